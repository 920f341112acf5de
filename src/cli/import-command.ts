import type { catalogue } from '../catalogue.ts';
import { deriveImportIdentity, type ImportFlags, toImportQuery, withUpstreamHint } from './api-documents.ts';
import { type CliEnvironment, formatCommandHelp, parseCommand } from './command.ts';
import { resolveConnection } from './connection.ts';
import { findOrUndefined } from './control.ts';
import { type Document, readText } from './documents.ts';
import { importFlags } from './flags.ts';
import { formatJson, formatYaml, replaceControlCharacters } from './output.ts';
import { problem } from './problems.ts';
import { createSurfaceClient, type SurfaceClient } from './surface-client.ts';

/** `gw import`: creates an API from a description of another format, through the dashboard API of a running gateway. */

const kind = 'import';
const upstreamHint = 'set --upstream URL';

type ImportOperations = readonly Extract<
  (typeof catalogue)[number],
  {
    path:
      | '/api/apis/convert'
      | '/api/apis/oas/import'
      | '/api/apis/oas/dry-run'
      | '/api/apis/oas/{apiId}'
      | '/api/apis/streams'
      | '/api/apis/streams/{apiId}';
  }
>[];
type DashboardClient = SurfaceClient<ImportOperations>;

const help = () =>
  formatCommandHelp({
    name: kind,
    about: 'creates an API from a description of it, or updates the one that an earlier import created',
    usage: [['import FILE', 'imports OpenAPI 3, Swagger 2.0, cURL, HAR, Postman or AsyncAPI; - is standard input']],
    flags: importFlags,
  });

interface Imported {
  readonly id: string;
  readonly action: 'added' | 'modified';
}

export async function runImportCommand(args: readonly string[], { environment, print }: CliEnvironment): Promise<void> {
  const { positionals, values } = parseCommand(kind, importFlags, args);
  const [path, ...more] = positionals;
  if (values.help || path === undefined) return print(help());
  if (more.length > 0) throw problem.usage({ detail: { reason: 'import takes one file', kind } });
  if (values.output !== undefined && values.output !== 'json')
    throw problem.usage({ detail: { reason: '-o takes json', kind } });
  const text = readText(path);
  const call: DashboardClient = createSurfaceClient<ImportOperations>(
    'dashboard',
    resolveConnection('dashboard', values, environment),
  );
  const body = { format: (values.format ?? 'auto') as 'auto', text };
  const converted = await call('POST /api/apis/convert', { body });
  const isJson = values.output === 'json';
  if (values['dry-run']) {
    const preview = await previewImport(call, converted, values);
    return print(isJson ? formatJson({ ...converted, document: preview }) : formatYaml(preview));
  }
  const isStreams = converted.kind === 'streams';
  const { id, action } = await (isStreams ? importStreams : importPlain)(call, converted.document, values);
  const { format, warnings } = converted;
  if (isJson) return print(formatJson({ id, action, format, warnings }));
  print(`API ${id} ${action}\n`);
  for (const warning of warnings) print(`warning: ${replaceControlCharacters(warning)}\n`);
}

const previewImport = async (
  call: DashboardClient,
  converted: { readonly kind: 'openapi' | 'streams'; readonly document: Document },
  flags: ImportFlags,
): Promise<Document> => {
  if (converted.kind === 'streams') return configureStreams(converted.document, flags).document;
  const { listenPath } = deriveImportIdentity(converted.document, flags);
  const query = { ...toImportQuery(flags), listenPath };
  return withUpstreamHint(
    call('POST /api/apis/oas/dry-run', { query, body: { oas: converted.document } }),
    upstreamHint,
  );
};

/** Importing again updates the document and keeps the configuration of the gateway. */
async function importPlain(call: DashboardClient, body: Document, flags: ImportFlags): Promise<Imported> {
  const { apiId, listenPath } = deriveImportIdentity(body, flags);
  const query = toImportQuery(flags);
  if (await findOrUndefined(call('GET /api/apis/oas/{apiId}', { params: { apiId } }))) {
    const listenPathChange = flags['listen-path'] ? { listenPath } : {};
    await call('PATCH /api/apis/oas/{apiId}', { params: { apiId }, query: { ...query, ...listenPathChange }, body });
    return { id: apiId, action: 'modified' };
  }
  const created = call('POST /api/apis/oas/import', { query: { ...query, listenPath, apiID: apiId }, body });
  await withUpstreamHint(created, upstreamHint);
  return { id: apiId, action: 'added' };
}

const extensionName = 'x-gw-api-gateway';
const streamsType = 'application/vnd.gw.streams.oas';

interface StreamsExtension {
  readonly info: Document;
  readonly server: Document;
}

function configureStreams(document: Document, flags: ImportFlags): { document: Document; apiId: string } {
  const { apiId, listenPath } = deriveImportIdentity(document, flags);
  const { info, server } = document[extensionName] as StreamsExtension;
  const domain = flags.domain ? { customDomain: { enabled: true, name: flags.domain } } : {};
  const extension = {
    info: { ...info, id: apiId },
    server: { ...server, listenPath: { value: listenPath, strip: true }, ...domain },
  };
  return { document: { ...document, [extensionName]: extension }, apiId };
}

/** Flags for which a streams API has no use. */
const plainFlags = ['upstream', 'authentication', 'allow-list', 'validate', 'mock'] as const;

async function importStreams(call: DashboardClient, given: Document, flags: ImportFlags): Promise<Imported> {
  const unused = plainFlags.find(flag => flags[flag] !== undefined);
  if (unused) throw problem.usage({ detail: { reason: `a streams API takes no --${unused}`, kind } });
  const { document, apiId } = configureStreams(given, flags);
  const sent = { body: document as never, contentType: streamsType };
  if (await findOrUndefined(call('GET /api/apis/streams/{apiId}', { params: { apiId } }))) {
    await call('PUT /api/apis/streams/{apiId}', { params: { apiId }, ...sent });
    return { id: apiId, action: 'modified' };
  }
  await call('POST /api/apis/streams', sent);
  return { id: apiId, action: 'added' };
}
