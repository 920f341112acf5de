import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { DocumentNode, parse, print } from 'graphql';
import { Pool } from 'undici';

interface SubschemaConfig {
  readonly name: string;
  executor: unknown;
}
/** The parts of the packages that are used: they are installed in a directory of the run. */
interface FederationPackage {
  getStitchedSchemaFromSupergraphSdl(options: {
    supergraphSdl: string;
    batch: boolean;
    onSubschemaConfig(config: SubschemaConfig): void;
  }): unknown;
}
interface ExecutorPackage {
  normalizedExecutor(options: { schema: unknown; document: DocumentNode }): Promise<object>;
}

/** `node stitching-server.ts DIRECTORY PORT SUPERGRAPH_FILE SUBGRAPHS_URL`: a gateway of @graphql-tools/federation. */
const [, , directory = '', port, supergraphFile = '', subgraphsUrl = ''] = process.argv;
const require = createRequire(`${directory}/`);
const { getStitchedSchemaFromSupergraphSdl } = require('@graphql-tools/federation') as FederationPackage;
const { normalizedExecutor } = require('@graphql-tools/executor') as ExecutorPackage;
const { parse: parseTheirs, print: printTheirs } = require('graphql') as { parse: typeof parse; print: typeof print };

const pool = new Pool(subgraphsUrl, { connections: 64 });
const printed = new WeakMap<DocumentNode, string>();

function printOnce(document: DocumentNode): string {
  const known = printed.get(document) ?? printTheirs(document);
  printed.set(document, known);
  return known;
}

const schema = getStitchedSchemaFromSupergraphSdl({
  supergraphSdl: readFileSync(supergraphFile, 'utf8'),
  batch: true,
  onSubschemaConfig(config) {
    const path = `/${config.name.toLowerCase()}`;
    config.executor = async ({ document, variables }: { document: DocumentNode; variables: object }) => {
      const body = JSON.stringify({ query: printOnce(document), variables });
      const headers = { 'content-type': 'application/json' };
      const response = await pool.request({ method: 'POST', path, headers, body });
      return response.body.json();
    };
  },
});

/** Documents are parsed once, as those of the gateway are. */
const documents = new Map<string, DocumentNode>();
createServer(async (request, response) => {
  const query = new URL(request.url!, 'http://localhost').searchParams.get('query')!;
  const document = documents.get(query) ?? parseTheirs(query);
  documents.set(query, document);
  const { data, errors } = (await normalizedExecutor({ schema, document })) as { data?: unknown; errors?: unknown };
  const body = JSON.stringify({ ...(errors !== undefined && { errors }), data });
  response.writeHead(200, { 'content-type': 'application/json' }).end(body);
}).listen(Number(port), '127.0.0.1');
