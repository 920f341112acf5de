import type { catalogue } from '../catalogue.ts';
import { type CliEnvironment, formatCommandHelp, parseCommand } from './command.ts';
import { resolveConnection } from './connection.ts';
import { findOrUndefined } from './control.ts';
import { readText } from './documents.ts';
import { explainFlags } from './flags.ts';
import { openLocalInstallation } from './local-installation.ts';
import { formatJson, formatTable, replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient } from './surface-client.ts';

/** `gw explain`: sends a request to the gateway with `X-Gw-Explain`, and prints the decision of each step. */

const kind = 'explain';
const requestTimeoutMs = 60_000;

type ExplainOperations = readonly Extract<(typeof catalogue)[number], { path: '/gw/explain/{explanationId}' }>[];

interface ExplainedStep {
  readonly mw?: string;
  readonly msg?: string;
  readonly refusal?: string;
  readonly took_ms?: number;
}

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'sends a request to the gateway and prints the decision of each step. The request is served and counted',
    usage: [['explain PATH|URL', 'explains a request, such as /orders/1']],
    flags: explainFlags,
  });

export async function runExplainCommand(
  args: readonly string[],
  { environment, print }: CliEnvironment,
): Promise<void> {
  const { positionals, values } = parseCommand(kind, explainFlags, args);
  const [target, ...more] = positionals;
  if (values.help || target === undefined) return print(help());
  if (more.length > 0) throw problem.usage({ detail: { reason: 'explain takes one path or URL', kind } });
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind } });
  const connection = resolveConnection('gateway', values, environment);
  const local = openLocalInstallation({ environment, dataDir: values['data-dir'] });
  const base = values.gateway || environment.GW_GATEWAY_URL || local.gatewayUrl;
  const url = resolveTarget(target, base);
  const call = createSurfaceClient<ExplainOperations>('gateway', connection);
  // The secret of this machine is sent to the gateway of this machine only.
  const secret = values.secret ?? environment.GW_SECRET ?? local.secretFor(url.origin) ?? '';
  const response = await send(url, secret, values, local.fetchFor(url.origin));
  const summary = readSummary(response.headers.get('x-gw-explanation'), url);
  const { id } = summary;
  const stored = await findOrUndefined(call('GET /gw/explain/{explanationId}', { params: { explanationId: id } }));
  const steps = stored ? parseSteps(stored.logs) : [];
  if (values.output === 'json') return print(formatJson({ status: response.status, id, steps }));
  print(`${response.status} ${replaceControlCharacters(response.statusText)}\n`);
  const columns = { STEP: readMember('mw'), MS: readMember('took_ms'), DECISION: readMember('msg') };
  print(formatTable(columns, steps as never));
}

const readMember = (name: keyof ExplainedStep) => (step: object) => (step as ExplainedStep)[name];

/** The gateway secret is sent to the gateway alone: a URL must be below its address. */
function resolveTarget(target: string, base: string | undefined): URL {
  if (base === undefined || !URL.canParse(base)) throw problem.no_gateway_url();
  const gateway = new URL(base);
  const url = URL.canParse(target)
    ? new URL(target)
    : new URL(gateway.origin + (target.startsWith('/') ? target : `/${target}`));
  if (url.origin !== gateway.origin)
    throw problem.foreign_url({ detail: { url: url.origin, gateway: gateway.origin } });
  return url;
}

interface RequestFlags {
  readonly request?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly data?: string | undefined;
}

async function send(
  url: URL,
  secret: string,
  { request, header = [], data }: RequestFlags,
  fetchWithTls: typeof fetch,
): Promise<Response> {
  const headers = new Headers();
  for (const text of header) {
    const colon = text.indexOf(':');
    if (colon <= 0) throw problem.usage({ detail: { reason: `-H ${text} has no colon`, kind } });
    headers.append(text.slice(0, colon).trim(), text.slice(colon + 1).trim());
  }
  headers.set('x-gw-explain', secret);
  const body = data?.startsWith('@') ? readText(data.slice(1)) : data;
  const method = request ?? (body === undefined ? 'GET' : 'POST');
  try {
    const response = await fetchWithTls(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(requestTimeoutMs),
      ...(body !== undefined && { body }),
    });
    await response.body?.cancel();
    return response;
  } catch (cause) {
    const { code } = ((cause as Error).cause ?? {}) as { code?: string };
    throw problem.unreachable({ detail: { url: url.origin, reason: code ?? (cause as Error).message }, cause });
  }
}

function readSummary(header: string | null, url: URL): { id: string } {
  if (header === null) throw problem.not_explained({ detail: { url: url.origin } });
  return JSON.parse(header) as { id: string };
}

const parseSteps = (logs: string): ExplainedStep[] =>
  logs
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as ExplainedStep);
