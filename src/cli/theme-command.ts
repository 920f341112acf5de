import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type CliEnvironment, formatCommandHelp, parseCommand, type ThemeTool } from './command.ts';
import { themeActions, themeFlags } from './flags.ts';
import { replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';

/** `gw theme`: creates, checks and packs themes of the developer portal on this machine. */

const kind = 'theme';
/** More than an archive may have: the check of the archive names its bound. */
const maxFiles = 1000;

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'creates, checks and packs themes of the developer portal, without a running portal',
    usage: [
      ['theme new DIR', 'writes a theme that works into a new folder, whose name is that of the theme'],
      ['theme check DIR', 'checks a theme as an upload does'],
      ['theme pack DIR -o FILE.zip', 'checks a theme, and writes its archive'],
    ],
    flags: themeFlags,
  });

const usage = (reason: string) => problem.usage({ detail: { reason, kind } });

export async function runThemeCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, themeFlags, args);
  const [action, folder, ...more] = positionals;
  if (values.help || action === undefined) return cli.print(help());
  if (!Object.hasOwn(actions, action))
    throw problem.unknown_action({ detail: { kind, action, known: themeActions.join(', ') } });
  if (folder === undefined || more.length > 0) throw usage(`theme ${action} takes one folder`);
  actions[action as keyof typeof actions](await cli.loadThemeTool!(), folder, values.out, cli);
}

type Action = (tool: ThemeTool, folder: string, out: string | undefined, cli: CliEnvironment) => void;

const actions: Record<(typeof themeActions)[number], Action> = {
  new(tool, folder, _out, { print }) {
    const files = refusing(() => tool.createStarterFiles(basename(resolve(folder))));
    accessing(folder, () => mkdirSync(folder));
    for (const [path, content] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { flag: 'wx' });
    }
    print(`${folder} written: edit its files, then gw theme pack ${folder} -o FILE.zip\n`);
  },
  check(tool, folder, _out, { print }) {
    const files = readFiles(folder);
    refusing(() => tool.packTheme(files));
    print(`${folder} is valid: ${files.size} files\n`);
  },
  pack(tool, folder, out, { print }) {
    if (out === undefined) throw usage('-o FILE.zip is missing');
    const files = readFiles(folder);
    const archive = refusing(() => tool.packTheme(files));
    accessing(out, () => writeFileSync(out, archive));
    print(`${out}: ${files.size} files, ${archive.length} bytes\n`);
  },
};

/** Files of a folder by their path below it, with `/`; hidden files and links are left out. */
function readFiles(folder: string): Map<string, Buffer> {
  return accessing(folder, () => {
    const files = new Map<string, Buffer>();
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
      const path = join(folder, name);
      const isHidden = name.split(sep).some(part => part.startsWith('.'));
      if (isHidden || !lstatSync(path).isFile()) continue;
      if (files.size === maxFiles) throw usage(`${folder} has more than ${maxFiles} files`);
      files.set(relative(folder, path).split(sep).join('/'), readFileSync(path));
    }
    return files;
  });
}

/** Names the path of a failure of the file system. */
function accessing<Result>(path: string, access: () => Result): Result {
  try {
    return access();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || (error as NodeJS.ErrnoException).syscall === undefined) throw error;
    if (code === 'EEXIST') throw usage(`${path} exists`);
    throw problem.unreadable({ detail: { path, reason: code } });
  }
}

function refusing<Result>(make: () => Result): Result {
  try {
    return make();
  } catch (cause) {
    const message = replaceControlCharacters((cause as Error).message);
    throw problem.refused({ detail: { message }, cause: cause as Error });
  }
}
