/** The rows of the failure table about the database file of the embedded store. */
import { row } from './row.ts';

export const storeFailures = {
  store_gone: row('E_STORE_GONE', 'transient', 503, {
    title: 'Database file is gone',
    advice:
      'Put the file back or restore a backup, then restart Pawl: it still has the old file open.',
  }),
  store_damaged: row('E_STORE_DAMAGED', 'fatal', 503, {
    title: 'Database is damaged',
    advice: 'Stop Pawl, run `pawl doctor`, and restore a backup of the data folder.',
  }),
  store_read_only: row('E_STORE_READ_ONLY', 'transient', 503, {
    title: 'Store is read-only',
    advice:
      'Give the user that runs Pawl write access to the data folder, or set another with --data.',
  }),
} as const;
