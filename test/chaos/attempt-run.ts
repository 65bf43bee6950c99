/** `npm run chaos:attempt [-- --kills N --seed S]`: kills attempts during their commit. */
import { parseOptions } from '../support/parse-options.ts';
import { killAttempts } from './attempt-kills.ts';
import { chanceFrom } from './chance.ts';

const { values } = parseOptions({
  options: {
    kills: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
});
console.log(`seed ${values.seed}`);
const { kills, whole, none, escaped, problems } = await killAttempts({
  kills: Number(values.kills),
  random: chanceFrom(Number(values.seed)).next,
});
for (const problem of problems) console.log(problem);
console.log(`${escaped} rounds ended before they could be killed`);
console.log(`${kills} kills: ${whole} all, ${none} none, ${problems.length} problems`);
process.exitCode = problems.length === 0 && kills > 0 ? 0 : 1;
