import { execFileSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that tests and benches run: where they are found, and the Debian package that has them. */
interface Tool {
  readonly title: string;
  readonly package: string;
  /** Alternative names. */
  readonly programs: readonly string[];
  /** Directories to look in besides PATH; patterns are allowed, the last match wins. */
  readonly directories?: readonly string[];
}

const postgres: Tool = {
  title: 'PostgreSQL',
  package: 'postgresql',
  programs: ['initdb'],
  directories: ['/usr/lib/postgresql/*/bin'],
};
const redis: Tool = { title: 'Redis', package: 'redis-server', programs: ['redis-server'] };
const chromium: Tool = {
  title: 'Chromium',
  package: 'chromium',
  programs: ['chromium', 'chromium-browser', 'google-chrome'],
};
/** Reference implementation of jq, for comparison. */
const jq: Tool = { title: 'jq', package: 'jq', programs: ['jq'] };
/** The directory that tests of LDAP sign-on search. */
const slapd: Tool = { title: 'OpenLDAP', package: 'slapd', programs: ['slapd'], directories: ['/usr/sbin'] };
/** Kafka producer whose library has a broker for tests. */
const kcat: Tool = { title: 'kcat', package: 'kcat', programs: ['kcat'] };
/** The commands of the guides. */
const curl: Tool = { title: 'curl', package: 'curl', programs: ['curl'] };
const openssl: Tool = { title: 'OpenSSL', package: 'openssl', programs: ['openssl'] };
const nginx: Tool = { title: 'nginx', package: 'nginx-light', programs: ['nginx'], directories: ['/usr/sbin'] };
const wrk: Tool = { title: 'wrk', package: 'wrk', programs: ['wrk'] };

/** Installs missing programs of the tests. */
export const ensureServices = (): void => ensureInstalled([postgres, redis, chromium, jq, slapd, kcat, curl, openssl]);

/** Installs missing programs of the benches. */
export const ensureBenchServices = (): void => ensureInstalled([nginx, wrk]);

/** The directory with PostgreSQL's server programs. */
export const postgresBin = (): string => join(locate(postgres), '..');
export const redisServer = (): string => locate(redis);
export const chromiumProgram = (): string => locate(chromium);
export const jqProgram = (): string => locate(jq);
export const slapdProgram = (): string => locate(slapd);
export const kcatProgram = (): string => locate(kcat);
export const nginxProgram = (): string => locate(nginx);
export const wrkProgram = (): string => locate(wrk);

function ensureInstalled(tools: readonly Tool[]): void {
  const missing = tools.filter(tool => find(tool) === undefined);
  if (missing.length === 0) return;
  const packages = missing.map(tool => tool.package).join(' ');
  if (process.getuid?.() !== 0 || findProgram('apt-get', readSearchPath()) === undefined)
    throw createMissingError(missing);
  console.log(`Installing ${packages} with apt-get …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['update', '-q'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages.split(' ')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const remaining = missing.filter(tool => find(tool) === undefined);
  if (remaining.length > 0) throw createMissingError(remaining);
}

function locate(tool: Tool): string {
  const program = find(tool);
  if (program === undefined) throw createMissingError([tool]);
  return program;
}

function createMissingError(tools: readonly Tool[]): Error {
  const titles = tools.map(tool => tool.title).join(', ');
  const packages = tools.map(tool => tool.package).join(' ');
  return new Error(`Please install ${titles} first (on Debian or Ubuntu: apt-get install ${packages}).`);
}

function find(tool: Tool): string | undefined {
  const own = (tool.directories ?? []).flatMap(pattern => globSync(pattern).sort(compareVersions).reverse());
  for (const program of tool.programs) {
    const path = findProgram(program, [...own, ...readSearchPath()]);
    if (path !== undefined) return path;
  }
  return undefined;
}

const compareVersions = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true });

const readSearchPath = () => (process.env.PATH ?? '').split(delimiter);

function findProgram(program: string, directories: readonly string[]): string | undefined {
  return directories.map(directory => join(directory, program)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
