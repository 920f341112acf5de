import { parseArgs } from 'node:util';
import { problem } from './problems.ts';

export interface CliEnvironment {
  readonly environment: Readonly<Record<string, string | undefined>>;
  print(text: string): void;
  /** Standard output is a terminal: colours are allowed. */
  readonly isTerminal?: boolean;
  /** Replaces the line of progress on a terminal. */
  reportProgress?(text: string): void;
  setExitCode?(code: number): void;
  /** Ends a command that runs until it is stopped; from the call on, the first signal to the process aborts it. */
  createStopSignal?(): AbortSignal;
  /** Loads the part of the gateway that `gw plugin` runs. */
  loadPluginTool?(): Promise<PluginTool>;
  /** Loads the part of the portal that `gw theme` runs. */
  loadThemeTool?(): Promise<ThemeTool>;
}

export interface PluginTestInput {
  readonly file: string;
  /** Name of the exported hook, or of the plugin object. */
  readonly hook: string;
  readonly exchange: unknown;
}

export interface PluginTestResult {
  readonly changes: unknown;
  readonly logs: readonly string[];
}

/** Functions of the gateway that `gw plugin` needs. A fault of a plugin is a thrown error with file and line. */
export interface PluginTool {
  createTemplate(name: string, driver: string): { readonly file: string; readonly text: string };
  /** Faults with file and line; empty for a plugin that can run. */
  checkPlugin(file: string): readonly string[];
  testPlugin(input: PluginTestInput): PluginTestResult;
  packBundle(path: string, privateKey: Buffer | undefined): Buffer;
}

/** Functions of the portal that `gw theme` needs. */
export interface ThemeTool {
  /** Files of a theme to start from, by path. */
  createStarterFiles(name: string): ReadonlyMap<string, Buffer>;
  /** The archive of a theme with these files. Throws what an upload of it would refuse. */
  packTheme(files: ReadonlyMap<string, Buffer>): Buffer;
}

/** Flag of a command: for the parser, the help and the shell completion. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly multiple?: boolean;
  /** Placeholder of the value in the help. */
  readonly value?: string;
  readonly about: string;
  /** Possible values. */
  readonly choices?: readonly string[];
}

export type CommandFlags = Readonly<Record<string, CommandFlag>>;

/** One line of a help text: the words after `gw`, and their meaning. */
export type Usage = readonly [words: string, about: string];

/** Command that is a client of a running gateway. */
export interface ClientCommand {
  /** Lines of `gw --help`. */
  readonly usage: readonly Usage[];
  /** First words after the name. */
  readonly actions?: readonly string[];
  readonly flags: CommandFlags;
  run(args: readonly string[], cli: CliEnvironment): Promise<void>;
}

/** Parses the arguments of a command; an unknown flag is an error. */
export function parseCommand<const Flags extends CommandFlags>(kind: string, flags: Flags, args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  } catch (cause) {
    const [reason] = (cause as Error).message.split('. ') as [string];
    throw problem.usage({ detail: { reason, kind }, cause });
  }
}

const usageWidth = 32;

/** Formats usage lines: the meaning in a column of its own, on the next line where the words are too long. */
export const formatUsage = (lines: readonly Usage[]): string =>
  lines.map(([words, about]) => formatColumns(`gw ${words}`, about, usageWidth)).join('');

function formatColumns(left: string, right: string, width: number): string {
  const separator = left.length > width ? `\n  ${' '.repeat(width)}` : ' '.repeat(width - left.length);
  return `  ${left}${separator} ${right}\n`;
}

interface HelpText {
  readonly name: string;
  readonly about: string;
  readonly usage: readonly Usage[];
  readonly flags: CommandFlags;
}

/** Help of one command, from its flags. */
export function formatCommandHelp({ name, about, usage, flags }: HelpText): string {
  const shown = Object.entries(flags).filter(([flag]) => flag !== 'help');
  const texts = shown.map(([flag, { short, value, type, about: meaning }]): Usage => {
    const long = type === 'string' ? `--${flag} ${value ?? 'TEXT'}` : `--${flag}`;
    return [short ? `-${short}, ${long}` : long, meaning];
  });
  const width = Math.max(...texts.map(([left]) => left.length)) + 1;
  const lines = texts.map(([left, right]) => formatColumns(left, right, width)).join('');
  return `gw ${name}: ${about}\n\nUsage\n${formatUsage(usage)}\nOptions\n${lines}`;
}
