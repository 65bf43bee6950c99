/** Mails for tests, as MIME. */

export interface MailFile {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly type?: string;
  /** The text refers to the file by this. */
  readonly contentId?: string;
}

export interface Mail {
  readonly subject?: string;
  readonly text?: string;
  readonly html?: string;
  readonly files?: readonly MailFile[];
}

export function writeMail({ subject, text, html, files = [] }: Mail): string {
  const parts = [
    ...(text === undefined ? [] : [`Content-Type: text/plain; charset=utf-8\n\n${text}`]),
    ...(html === undefined ? [] : [`Content-Type: text/html; charset=utf-8\n\n${html}`]),
    ...files.map(writeFile),
  ];
  return [
    'From: Ines Pike <ines@quay.example>',
    'To: Jan Moor <jan@quay.example>',
    ...(subject === undefined ? [] : [`Subject: ${subject}`]),
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="part"',
    '',
    ...parts.map((part) => `--part\n${part}`),
    '--part--',
    '',
  ].join('\n');
}

function writeFile({ name, content, type = 'application/octet-stream', contentId }: MailFile) {
  const lines = Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\n');
  return [
    `Content-Type: ${type}`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: ${contentId === undefined ? 'attachment' : 'inline'}; filename="${name}"`,
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    '',
    lines,
  ].join('\n');
}
