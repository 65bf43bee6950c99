/** The groups of routes, as sections of the documentation. */
export const groupDescriptions: Readonly<Record<string, string>> = {
  Jobs: 'Add documents to a corpus, and follow and control the jobs that process them.',
  Webhooks: 'Signed messages to an address of yours when a job ends.',
  History: 'The event log, by cursor or live.',
  Inbox: 'Documents that failed: why, and what to do.',
  Corpora: 'Corpora, their documents, chunks and entities, and who may use them.',
  Sources: 'Folders and other places that a corpus follows: schedules, runs, removals.',
  Attempt: 'The interactive import of the workbench.',
  Batch: 'Work for providers that answer within hours.',
  Search: 'Find passages, and explain what is found.',
  Services: 'Single steps without a job: text of a page, chunks, vectors.',
  Callbacks: 'Calls between services of Pawl.',
  Service: 'The service itself: health, metrics, this documentation.',
  Callers: 'Callers and their keys, for operators.',
};
