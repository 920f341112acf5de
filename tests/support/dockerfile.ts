import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A Dockerfile without Docker: its instructions are run in directories, one for each stage, that stand for images. */

export interface Instruction {
  readonly name: string;
  /** `--from=build` and the like. */
  readonly flags: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .split('\n')
    .filter(line => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`no instruction: ${line}`);
    if (name === 'FROM') {
      const [from = '', as, stage] = rest.split(/\s+/);
      stages.push({ from, name: as === 'AS' ? stage! : String(stages.length), instructions: [] });
      continue;
    }
    const flags = Object.fromEntries(
      [...rest.matchAll(/(?:^|\s)--([a-z-]+)=(\S+)/g)].map(([, key, value]) => [key, value]),
    );
    const isFlagged = name === 'COPY' || name === 'HEALTHCHECK';
    stages.at(-1)!.instructions.push({
      name,
      flags: isFlagged ? flags : {},
      text: isFlagged ? rest.replaceAll(/(^|\s)--[a-z-]+=\S+/g, '').trim() : rest.trim(),
    });
  }
  return stages;
}

interface IgnoreRule {
  readonly isException: boolean;
  readonly pattern: RegExp;
}

export const parseDockerignore = (text: string): IgnoreRule[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const pattern = line.replace(/^!/, '').replace(/^\/|\/$/g, '');
      const source = pattern
        .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll(/\*\*\/|\*\*|\*|\?/g, it => ({ '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' })[it]!);
      return { isException: line.startsWith('!'), pattern: new RegExp(`^${source}(?:/.*)?$`) };
    });

/** The last rule that matches a path or a directory above it decides. */
const isIgnored = (path: string, rules: readonly IgnoreRule[]) =>
  rules.findLast(({ pattern }) => pattern.test(path))?.isException === false;

/** Files of the build context, relative. `node_modules` and `.git` are not walked where they are ignored. */
export function listContext(root: string, rules: readonly IgnoreRule[]): string[] {
  const isLarge = (name: string) => name === 'node_modules' || name === '.git';
  const top = readdirSync(root).filter(name => !isLarge(name) || !isIgnored(name, rules));
  const all = top.flatMap(name => {
    if (!statSync(join(root, name)).isDirectory()) return [name];
    return readdirSync(join(root, name), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name).slice(root.length + 1));
  });
  return all.filter(path => !isIgnored(path, rules));
}

/** What a container of a stage is started with. */
export interface BuiltStage {
  readonly root: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  /** RUN instructions that change the base image, which is not here. */
  readonly notRun: readonly string[];
}

export interface BuildOptions {
  readonly context: string;
  /** Receives a directory for each stage. */
  readonly target: string;
  /** Runs a shell command in the directory of a stage. */
  execute(command: string, directory: string): Promise<void>;
  /** Replaces the numeric user where the tests do not run as root. */
  readonly mapUser: (text: string) => string;
}

/** Absolute paths of the image that the instructions name. */
const imagePath = /(?<![\w./])\/(opt\/gatewright|data)\b/g;

export async function buildDockerfile(options: BuildOptions): Promise<Map<string, BuiltStage>> {
  const { context, target } = options;
  const read = (name: string) => readFileSync(join(context, name), 'utf8');
  const files = listContext(context, parseDockerignore(read('.dockerignore')));
  const built = new Map<string, BuiltStage>();
  for (const stage of parseDockerfile(read('Dockerfile'))) {
    const root = join(target, stage.name);
    mkdirSync(root, { recursive: true });
    built.set(stage.name, await buildStage(stage, root, files, built, options));
  }
  return built;
}

async function buildStage(
  stage: Stage,
  root: string,
  files: readonly string[],
  built: ReadonlyMap<string, BuiltStage>,
  { context, execute, mapUser }: BuildOptions,
): Promise<BuiltStage> {
  const toHost = (text: string) => text.replaceAll(imagePath, `${root}/$1`);
  const parseList = (text: string) => (JSON.parse(text) as string[]).map(toHost);
  const state = {
    directory: root,
    user: '',
    environment: {} as Record<string, string>,
    entrypoint: [] as string[],
    command: [] as string[],
    healthCheck: [] as string[],
  };
  const volumes: string[] = [];
  const set = (values: Partial<typeof state>) => void Object.assign(state, values);
  const notRun: string[] = [];
  const run: Record<string, (it: Instruction) => void | Promise<void>> = {
    WORKDIR({ text }) {
      state.directory = toHost(text);
      mkdirSync(state.directory, { recursive: true });
    },
    async COPY({ flags, text }) {
      const names = text.split(/\s+/);
      const to = names.pop()!;
      if (flags.from) {
        const source = join(built.get(flags.from)!.root, names[0]!);
        const destination = toHost(to);
        mkdirSync(dirname(destination), { recursive: true });
        return execute(`cp -al '${source}' '${destination}'`, root);
      }
      for (const name of names) copyFromContext(name, to, files, context, state.directory);
    },
    async RUN({ text }) {
      if (/\bapt-get\b/.test(text)) return void notRun.push(text);
      await execute(mapUser(toHost(text)), state.directory);
    },
    ENV({ text }) {
      for (const pair of text.split(/\s+/)) {
        const at = pair.indexOf('=');
        state.environment[pair.slice(0, at)] = toHost(pair.slice(at + 1));
      }
    },
    USER: ({ text }) => set({ user: mapUser(text) }),
    VOLUME: ({ text }) => void volumes.push(toHost(text)),
    EXPOSE: () => undefined,
    ENTRYPOINT: ({ text }) => set({ entrypoint: parseList(text) }),
    CMD: ({ text }) => set({ command: parseList(text) }),
    HEALTHCHECK: ({ text }) => set({ healthCheck: parseList(text.replace(/^CMD\s+/, '')) }),
  };
  for (const instruction of stage.instructions) {
    const step = run[instruction.name];
    if (!step) throw new Error(`unknown instruction ${instruction.name}`);
    await step(instruction);
  }
  return { root, ...state, volumes, notRun };
}

/** COPY of a file into a directory, or of a directory's content. */
function copyFromContext(name: string, to: string, files: readonly string[], context: string, directory: string): void {
  const copied = files.filter(file => file === name || file.startsWith(`${name}/`));
  if (copied.length === 0) throw new Error(`COPY ${name}: not in the build context`);
  for (const file of copied) {
    const place = file === name ? join(to, basename(name)) : join(to, file.slice(name.length + 1));
    const destination = join(directory, place);
    mkdirSync(dirname(destination), { recursive: true });
    // With the mode of the file, as COPY does.
    copyFileSync(join(context, file), destination);
  }
}
