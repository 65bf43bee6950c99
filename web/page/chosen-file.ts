/** Files that were chosen or dropped, with the folders below the chosen one. */

export interface ChosenFile {
  /** Identifies the document: equal base names in two folders are two documents. */
  readonly path: string;
  readonly file: File;
}

export interface Dropped {
  readonly files: readonly ChosenFile[];
  /** Paths that the browser could not read. */
  readonly unreadable: readonly string[];
}

/** Files keep the order of the choice. A browser lists a folder in no order: it is sorted. */
export function chosenFrom(list: Iterable<File> | null): ChosenFile[] {
  return [...(list ?? [])]
    .map((file) => ({ path: file.webkitRelativePath || file.name, file }))
    .sort((one, other) => (isInFolder(one) ? one.path.localeCompare(other.path) : 0));
}

const isInFolder = ({ file }: ChosenFile): boolean => file.webkitRelativePath !== '';

/** The dropped files, and all files of dropped folders. Call it during the event. */
export async function readDropped(items: Iterable<DataTransferItem>): Promise<Dropped> {
  const files: ChosenFile[] = [];
  const unreadable: string[] = [];
  const open: FileSystemEntry[] = [];
  for (const item of items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry();
    // Of a file that comes from no folder, such as a picture of another page.
    const file = entry ? null : item.getAsFile();
    if (entry) open.push(entry);
    else if (file) files.push({ path: file.name, file });
  }
  for (let entry = open.shift(); entry; entry = open.shift()) {
    const path = entry.fullPath.replace(/^\//, '');
    try {
      if (isFolder(entry)) open.unshift(...(await entriesOf(entry)));
      else files.push({ path, file: await fileOf(entry as FileSystemFileEntry) });
    } catch {
      unreadable.push(path);
    }
  }
  return { files, unreadable };
}

const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** A reader returns the entries in parts; an empty part is the end. */
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (part.length === 0) return entries;
    entries.push(...part);
  }
}
