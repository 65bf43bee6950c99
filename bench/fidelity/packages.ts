/** The Debian packages whose documentation is measured, and its location in them. */
export interface Manual {
  readonly name: string;
  /** The generator of its pages, different for each package. */
  readonly generator: string;
  readonly folder: string;
}

export const manuals: readonly Manual[] = [
  {
    name: 'postgresql-doc-15',
    generator: 'DocBook',
    folder: 'usr/share/doc/postgresql-doc-15/html',
  },
  { name: 'python3.11-doc', generator: 'Sphinx', folder: 'usr/share/doc/python3.11/html' },
  { name: 'git-doc', generator: 'AsciiDoc', folder: 'usr/share/doc/git-doc' },
  {
    name: 'debian-handbook',
    generator: 'Publican',
    folder: 'usr/share/doc/debian-handbook/html/en-US',
  },
  { name: 'octave-doc', generator: 'Texinfo', folder: 'usr/share/doc/octave/octave.html' },
  { name: 'libglib2.0-doc', generator: 'gtk-doc', folder: 'usr/share/gtk-doc/html' },
  {
    name: 'libcommons-lang3-java-doc',
    generator: 'Javadoc',
    folder: 'usr/share/doc/libcommons-lang3-java/api/org',
  },
  {
    name: 'apache2-doc',
    generator: 'XSLT of its own',
    folder: 'usr/share/doc/apache2-doc/manual/en',
  },
  { name: 'nodejs-doc', generator: 'Markdown', folder: 'usr/share/doc/nodejs/api' },
  { name: 'sqlite3-doc', generator: 'by hand', folder: 'usr/share/doc/sqlite3' },
  { name: 'libusb-1.0-doc', generator: 'Doxygen', folder: 'usr/share/doc/libusb-1.0-doc' },
  { name: 'mkdocs-doc', generator: 'MkDocs', folder: 'usr/share/doc/mkdocs/html' },
  { name: 'asciidoctor-doc', generator: 'YARD', folder: 'usr/share/doc/asciidoctor-doc/html' },
  {
    name: 'libghc-aeson-doc',
    generator: 'Haddock',
    folder: 'usr/share/doc/libghc-aeson-doc/html',
  },
];

export interface Place {
  readonly package: string;
  /** From the root of the package; may be a glob. */
  readonly path: string;
}

/** One text in several formats from one source. The HTML is the truth of the others. */
export interface Edition {
  readonly name: string;
  readonly html: Place;
  readonly pdf: Place;
  readonly epub?: Place;
}

const fromR = (name: string): Edition => ({
  name,
  html: { package: 'r-doc-html', path: `usr/share/R/doc/manual/${name}.html` },
  pdf: { package: 'r-doc-pdf', path: `usr/share/R/doc/manual/${name}.pdf` },
});

const within = (name: string, folder: string) => (path: string) => ({
  package: name,
  path: `${folder}/${path}`,
});

const policy = within('debian-policy', 'usr/share/doc/debian-policy');
const developers = within('developers-reference', 'usr/share/developers-reference');
const reference = within('debian-reference-en', 'usr/share/debian-reference');
const debmake = within('debmake-doc', 'usr/share/doc/debmake-doc');

export const editions: readonly Edition[] = [
  fromR('R-intro'),
  fromR('R-data'),
  fromR('R-lang'),
  fromR('R-ints'),
  { name: 'FHS 3.0', html: policy('fhs/fhs-3.0.html'), pdf: policy('fhs/fhs-3.0.pdf.gz') },
  {
    name: 'Debian Policy',
    html: policy('policy.html/{ap,ch}-*.html'),
    pdf: policy('policy.pdf.gz'),
    epub: policy('policy.epub'),
  },
  {
    name: "Debian Developer's Reference",
    html: developers('{best-,beyond-,developer-,l10n,new-,pkgs,resources,scope,tools}*.html'),
    pdf: developers('developers-reference.pdf'),
    epub: developers('developers-reference.epub'),
  },
  {
    name: 'Debian Reference',
    html: reference('{apa,ch,pr}*.en.html'),
    pdf: reference('debian-reference.en.pdf'),
  },
  {
    name: 'Guide for Debian Maintainers',
    html: debmake('html/{apa,ch,pr}*.en.html'),
    pdf: debmake('debmake-doc.en.pdf'),
    epub: debmake('debmake-doc.en.epub'),
  },
];
