import type { catalogue } from '../catalogue.ts';
import { type CliEnvironment, formatCommandHelp, parseCommand } from './command.ts';
import { resolveConnection } from './connection.ts';
import type { Document } from './documents.ts';
import { statusFlags } from './flags.ts';
import { formatJson, formatTable } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient, type SurfaceClientOptions } from './surface-client.ts';

/** `gw status`: health of a process, revision of each thread, APIs that are not served, processes on its database. */

const kind = 'status';

type StatusOperations = readonly Extract<(typeof catalogue)[number], { path: '/gw/status' }>[];

interface Health {
  readonly status: string;
  readonly version: string;
  readonly details: Readonly<Record<string, { readonly status: string; readonly output?: string }>>;
}

const healthTimeoutMs = 10_000;

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'shows the health of a running gateway; fails where a part of it does',
    usage: [['status', 'health, revision, threads, APIs that are not served, processes on the same database']],
    flags: statusFlags,
  });

export async function runStatusCommand(args: readonly string[], { environment, print }: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, statusFlags, args);
  if (values.help) return print(help());
  if (positionals.length > 0) throw problem.usage({ detail: { reason: 'status takes no words', kind } });
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind } });
  const connection = resolveConnection('gateway', values, environment);
  const status = await createSurfaceClient<StatusOperations>('gateway', connection)('GET /gw/status', {});
  const health = await readHealth(connection);
  const behind = status.threads.filter(({ revision }) => revision < status.revision).length;
  print(values.output === 'json' ? formatJson({ health, ...status }) : formatStatus(health, status, behind));
  const failing = Object.entries(health.details).flatMap(([name, { status: state }]) =>
    state === 'pass' ? [] : [name],
  );
  if (failing.length > 0) throw problem.unhealthy({ detail: { parts: failing.join(', ') } });
}

/** Health endpoint of the management listeners, which needs no credential. */
async function readHealth({ url, fetch: send }: Pick<SurfaceClientOptions, 'url' | 'fetch'>): Promise<Health> {
  const response = await send(`${url.replace(/\/+$/, '')}/hello`, { signal: AbortSignal.timeout(healthTimeoutMs) });
  const { status, version, details } = (await response.json()) as Partial<Health>;
  return { status: String(status), version: String(version), details: details ?? {} };
}

interface GatewayStatus {
  readonly revision: number;
  readonly threads: readonly { readonly revision: number; readonly apis: number; readonly not_served: number }[];
  readonly not_served: readonly { readonly api_id: string; readonly name: string; readonly reason: string }[];
  /** Absent in responses of earlier releases. */
  readonly nodes?: readonly Document[];
}

const bytesPerMegabyte = 1_000_000;

/** Columns of the table of processes; a process without traffic threads serves no revision. */
const createNodeColumns = (newest: number): Parameters<typeof formatTable>[0] => ({
  HOST: it => it.hostname,
  ID: it => it.id,
  ROLE: it => it.role,
  STATE: it => (it.state === 'running' && isBehind(it, newest) ? 'behind' : it.state),
  VERSION: it => it.version,
  REVISION: it => (Number(it.threads) > 0 ? it.revision : '-'),
  THREADS: it => `${it.threads_running}/${it.threads}`,
  MEMORY: it => `${Math.round(Number(it.resident_bytes) / bytesPerMegabyte)} MB`,
  'REQUESTS/S': it => it.requests_per_second ?? '-',
  'LOOP DELAY': it => formatDelay(it.event_loop_delay_ms),
  STORES: it => formatStores(it.stores),
  CLOCK: it =>
    it.clock_skew_ms === undefined ? '-' : `${Number(it.clock_skew_ms) > 0 ? '+' : ''}${it.clock_skew_ms} ms`,
  'LAST CONTACT': it => it.heartbeat_at,
});

/** Processes of earlier releases report no load. */
const formatDelay = (ms: unknown): string => (ms === undefined ? '-' : `${ms} ms`);

function formatStores(stores: unknown): string {
  const all = (stores ?? []) as readonly { readonly name: string; readonly latency_ms?: number }[];
  const texts = all.map(({ name, latency_ms: ms }) => `${name} ${ms === undefined ? 'unavailable' : `${ms} ms`}`);
  return texts.join(', ') || '-';
}

const isBehind = ({ threads, revision }: Document, newest: number) => Number(threads) > 0 && Number(revision) < newest;

const indent = (text: string) => text.replaceAll(/^(?=.)/gm, '  ');

function formatStatus(
  health: Health,
  { revision, threads, not_served, nodes = [] }: GatewayStatus,
  behind: number,
): string {
  const parts = Object.entries(health.details).map(
    ([name, { status, output }]) => `  ${name}: ${status}${output ? ` (${output})` : ''}\n`,
  );
  const apis = Math.max(0, ...threads.map(it => it.apis));
  const threadText = behind === 0 ? 'all current' : `${behind} behind`;
  const table = formatTable({ ID: it => it.api_id, NAME: it => it.name, REASON: it => it.reason }, not_served);
  return [
    `Health: ${health.status}, version ${health.version}\n${parts.join('')}`,
    `Revision: ${revision}\n`,
    `Threads: ${threads.length}, ${threadText}\n`,
    `APIs: ${apis}, ${not_served.length} not served\n${not_served.length > 0 ? indent(table) : ''}`,
    nodes.length > 0 ? `Processes: ${nodes.length}\n${indent(formatTable(createNodeColumns(revision), nodes))}` : '',
  ].join('');
}
