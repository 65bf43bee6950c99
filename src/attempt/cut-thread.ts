/** The thread that cuts one long text. */
import { parentPort, workerData } from 'node:worker_threads';
import { splitText } from '../pipeline/chunk/split.ts';

parentPort?.postMessage(splitText(workerData as string));
