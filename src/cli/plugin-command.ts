import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type CliEnvironment, formatCommandHelp, type PluginTool, parseCommand } from './command.ts';
import { pluginActions, pluginFlags } from './flags.ts';
import { formatJson, replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';

/** `gw plugin`: creates, checks, tests and packs plugins on this machine, without a running gateway. */

const kind = 'plugin';

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'creates, checks, tests and packs plugins, without a running gateway',
    usage: [
      ['plugin new NAME', 'writes a plugin that works, with comments'],
      ['plugin check FILE', 'loads the plugin in the sandbox'],
      ['plugin test FILE', 'runs a hook and prints what it changed'],
      ['plugin bundle DIR|MANIFEST -o FILE.zip', 'writes a bundle with checksum and signature'],
    ],
    flags: pluginFlags,
  });

type Flags = ReturnType<typeof parsePluginCommand>['values'];
const parsePluginCommand = (args: readonly string[]) => parseCommand(kind, pluginFlags, args);

export async function runPluginCommand(args: readonly string[], cli: CliEnvironment): Promise<void> {
  const { positionals, values } = parsePluginCommand(args);
  const [action, path, ...more] = positionals;
  if (values.help || action === undefined) return cli.print(help());
  const run = actions[action as keyof typeof actions];
  if (!run || !Object.hasOwn(actions, action))
    throw problem.unknown_action({ detail: { kind, action, known: pluginActions.join(', ') } });
  if (path === undefined || more.length > 0) throw usage(`plugin ${action} takes one argument`);
  await run(await cli.loadPluginTool!(), path, values, cli);
}

const usage = (reason: string) => problem.usage({ detail: { reason, kind } });
const refuse = (error: unknown) =>
  problem.refused({ detail: { message: replaceControlCharacters((error as Error).message) }, cause: error as Error });

type Action = (tool: PluginTool, path: string, flags: Flags, cli: CliEnvironment) => void | Promise<void>;

const actions: Record<(typeof pluginActions)[number], Action> = {
  new(tool, name, { driver = 'typescript' }, { print }) {
    if (!/^[A-Za-z_]\w*$/.test(name)) throw usage('a name has letters, digits and _');
    if (driver !== 'typescript' && driver !== 'javascript') throw usage('--driver takes typescript or javascript');
    const { file, text } = tool.createTemplate(name, driver);
    if (existsSync(file)) throw usage(`${file} exists`);
    writeFileSync(file, text, { flag: 'wx' });
    print(`${file} written: put it below plugins.directory, or pack it with gw plugin bundle\n`);
  },
  check(tool, file, _flags, { print, setExitCode }) {
    readBytes(file);
    const faults = tool.checkPlugin(file);
    for (const fault of faults) print(`${replaceControlCharacters(fault)}\n`);
    if (faults.length > 0) return setExitCode?.(1);
    print(`${basename(file)} is valid\n`);
  },
  test(tool, file, { hook = 'pre', exchange }, { print }) {
    readBytes(file);
    const given = exchange === undefined ? {} : parseExchange(exchange);
    try {
      print(formatJson(tool.testPlugin({ file, hook, exchange: given })));
    } catch (error) {
      throw refuse(error);
    }
  },
  bundle(tool, path, { out, key }, { print }) {
    if (out === undefined) throw usage('-o FILE.zip is missing');
    const privateKey = key === undefined ? undefined : readBytes(key);
    let archive: Buffer;
    try {
      archive = tool.packBundle(path, privateKey);
    } catch (error) {
      throw refuse(error);
    }
    writeFileSync(out, archive);
    print(`${out}: ${archive.length} bytes${privateKey ? ', signed' : ''}\n`);
  },
};

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw problem.unreadable({ detail: { path, reason: (error as NodeJS.ErrnoException).code ?? '' } });
  }
}

function parseExchange(path: string): unknown {
  try {
    return JSON.parse(readBytes(path).toString());
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw problem.not_documents({ detail: { path, where: '' }, cause });
  }
}
