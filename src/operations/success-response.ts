import type { FastifyReply, FastifyRequest } from 'fastify';
import { isYamlType, parseMediaType } from '#base/media-type.ts';
import { toYamlText } from '#base/yaml.ts';
import type { FileContent, StreamedFile } from './body.ts';
import { csvType } from './csv.ts';
import { type ObjectVersions, type Preconditions, parseTagCondition } from './entity-tags.ts';
import { type AnyOperation, isMutation } from './operation.ts';
import { problem } from './problems.ts';
import { surfaces } from './surfaces.ts';

const yamlType = 'application/yaml';
const isPretty = ({ query }: FastifyRequest) => (query as Record<string, unknown>).pretty === 'true';
const readType = ({ query }: FastifyRequest) => (query as Record<string, unknown>).type;
/** Newline-delimited JSON: one value per line. */
export const ndjsonType = 'application/x-ndjson';

/** True where `Accept` names a YAML media type, the unregistered ones included. */
const acceptsYaml = (accept: string | undefined) =>
  (accept ?? '').split(',').some(range => isYamlType(parseMediaType(range)));

/** Representation of a result: text, or the stream of an operation with a media type of its own. */
interface Representation {
  readonly content: unknown;
  readonly type: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Content negotiation of a success response. */
export function renderSuccess(it: AnyOperation, request: FastifyRequest, value: unknown): Representation {
  if (it.offersYaml && acceptsYaml(request.headers.accept)) return { content: toYamlText(value), type: yamlType };
  const type = readType(request);
  const headers = { 'content-disposition': `attachment; filename="${it.name}.${type}"` };
  if (it.toCsv && type === 'csv') return { content: it.toCsv(value as never), type: csvType, headers };
  if (it.toNdjson && type === 'ndjson') {
    const lines = it.toNdjson(value as never).map(item => `${JSON.stringify(item)}\n`);
    return { content: lines.join(''), type: ndjsonType, headers };
  }
  if (it.producesFile) {
    const { bytes, mediaType } = value as FileContent;
    return { content: bytes, type: mediaType };
  }
  if (it.streamsFile) {
    const { stream, mediaType, name } = value as StreamedFile;
    const headers = { 'content-disposition': `attachment; filename="${name}"` };
    return { content: stream, type: mediaType, headers };
  }
  if (it.produces) return { content: value, type: it.produces };
  const content = JSON.stringify(value, undefined, it.offersPretty && isPretty(request) ? 2 : undefined);
  return { content, type: surfaces[it.surface].contentType };
}

/** Conditions of a request. A write without a version refuses them: its client relies on a check that none makes. */
export function readPreconditions(it: AnyOperation, request: FastifyRequest): Preconditions {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
  if (!it.versioned) {
    const name = ifMatch === undefined ? 'If-None-Match' : 'If-Match';
    if (isMutation(it) && (ifMatch ?? ifNoneMatch) !== undefined)
      throw problem.condition_unsupported({ detail: { name } });
    return {};
  }
  return { ifMatch: parseTagCondition(ifMatch), ifNoneMatch: parseTagCondition(ifNoneMatch) };
}

/** Sends a representation with its entity tag, or 304 where the client has it (RFC 9110, 15.4.5). */
export function sendSuccess(
  reply: FastifyReply,
  it: AnyOperation,
  { content, type, headers = {} }: Representation,
  versions: ObjectVersions | undefined,
) {
  const tag = isMutation(it) ? versions?.toWrittenTag() : versions?.tagRepresentation(String(content));
  if (tag) reply.header('etag', tag);
  if (tag && !isMutation(it) && versions?.isUnchanged(tag)) return reply.code(304).send();
  return reply
    .code(it.status ?? 200)
    .headers(headers)
    .type(type)
    .send(content);
}
