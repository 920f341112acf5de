import { problems } from './problems.ts';

const problem = problems('command', {
  needs_value: { status: 500, message: '{flag} needs a value' },
});

export interface CommandLine {
  /** The words that are not flags, in order. */
  readonly words: readonly string[];
  /** `--name value`, `--name=value`, or `--name` alone for a switch. The last one wins. */
  readonly flags: ReadonlyMap<string, string>;
}

/** Parses words and flags. An unknown flag needs no value: the caller rejects it as unknown, not as incomplete. */
export function parseCommandLine(
  args: readonly string[],
  isSwitch: (name: string) => boolean,
  isKnown: (name: string) => boolean = () => true,
): CommandLine {
  const words: string[] = [];
  const flags = new Map<string, string>();
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const flag = /^--([^=]+)(?:=(.*))?$/s.exec(word);
    if (!flag) {
      words.push(word);
      continue;
    }
    const [, name = '', value] = flag;
    flags.set(
      name,
      value ?? (isSwitch(name) ? 'true' : (takeValue(rest) ?? (isKnown(name) ? throwMissingValue(name) : ''))),
    );
  }
  return { words, flags };
}

const takeValue = (rest: string[]) => (rest[0]?.startsWith('--') ? undefined : rest.shift());

function throwMissingValue(name: string): never {
  throw problem.needs_value({ detail: { flag: `--${name}` } });
}
