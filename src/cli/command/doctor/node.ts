/** `pawl doctor` checks of the running Node. */
import type { Finding } from './doctor.ts';

/** As in `engines` of package.json, and in `bin/pawl`: Node 23 has ended. */
const supported = 'Node 22.16, or 24 or newer';

export function checkNode(found = process.version): Finding {
  const [major = 0, minor = 0] = found.replace(/^v/, '').split('.').map(Number);
  const isFit = major >= 24 || (major === 22 && minor >= 16);
  if (isFit) return { check: 'Node', verdict: 'ok', found };
  return { check: 'Node', verdict: 'fail', found, advice: `install ${supported}` };
}
