import type { FastifyRequest } from 'fastify';
import { rejectNul } from '#base/json.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { IdempotentRequest } from '#storage/idempotency-store.ts';
import { type ChangeAuthor, type NamedObject, runInOperationContext } from '#storage/operation-context.ts';
import { collectUnreadableRows, type UnreadableRows } from '#storage/unreadable-rows.ts';
import type { Actor } from './actor.ts';
import { readBody } from './body.ts';
import { addWarnings, checkBody } from './body-members.ts';
import { readChangeNote } from './change-note.ts';
import type { HashText, ObjectVersions } from './entity-tags.ts';
import { type RunOnce, readIdempotentRequest } from './idempotency.ts';
import { type AnyOperation, isMutation, type OperationCall } from './operation.ts';
import { checkQueryNames } from './query-names.ts';
import { toAuditPath } from './request-path.ts';
import { prefersLenient, runLenient } from './unknown-members.ts';
import { validate } from './validation-error.ts';

export interface OperationRunOptions {
  readonly services: unknown;
  readonly log: Log;
  readonly maxBodyBytes: number;
  /** Body limit of bulk operations. */
  readonly maxBulkBodyBytes: number;
  readonly unknownMembers: Settings['management.unknown_members'];
  readonly validateResponses: boolean;
  /** Keyed hash of stored rows and responses, for entity tags. */
  readonly hashVersion: HashText;
  /** Runs a create once for each idempotency key. */
  readonly runOnce: RunOnce;
  /** Rejects a request that names an object its actor must not see. */
  readonly refuseHidden: (actor: Actor, refs: readonly string[]) => Promise<void>;
  /** Rejects a request that the rules of its actor's organisation deny. */
  readonly enforceRules: (actor: Actor, request: AuthorizedRequest) => Promise<void>;
}

/** A validated request, as rules see it. */
export interface AuthorizedRequest {
  readonly operation: string;
  readonly method: AnyOperation['method'];
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** JSON of the body; undefined where there is none, or it is no JSON. */
  readonly body: unknown;
}

type AnyCall = OperationCall<unknown, unknown, unknown>;

/** Object of an audit record. */
export interface AuditTarget {
  object: string;
  orgId: string;
  /** Objects of further records of the same request. */
  more?: readonly string[];
  /** Names of written objects by their ids. */
  readonly names?: Map<string, NamedObject>;
}

/** The members of a call that do not come from its request, and what observes it. */
export interface CallContext extends Omit<AnyCall, 'params' | 'query' | 'body' | 'address' | 'isSecure'> {
  readonly versions: ObjectVersions | undefined;
  readonly auditTarget: AuditTarget;
}

/** Validates the request, calls the handler, and adds warnings to its response. */
export async function runOperation(
  it: AnyOperation,
  options: OperationRunOptions,
  request: FastifyRequest,
  callContext: CallContext,
) {
  const { actor } = callContext;
  const params = it.params && validate(it.params, copyRejectingNul(readParams(it, request)));
  const rawQuery = copyRejectingNul(request.query);
  const isLenient = isMutation(it) && prefersLenient(it.surface, request.headers.prefer);
  const unknownMembers = isLenient ? 'warn' : options.unknownMembers;
  const ignored = checkQueryNames(it.query, rawQuery, { unknownMembers, isMutation: isMutation(it) });
  const query = it.query && validate(it.query, rawQuery);
  await options.refuseHidden(actor, listReferencedApis(request));
  const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
  const maxBytes = it.isBulk ? options.maxBulkBodyBytes : options.maxBodyBytes;
  const readOptions = { contentType: request.headers['content-type'], maxBytes };
  const rawBody = it.body && (await readBody(it.accepts ?? 'json', bytes, readOptions));
  const { body, warnings } = it.body
    ? checkBody({ ...it, body: it.body }, rawBody, unknownMembers)
    : { body: undefined, warnings: [] };
  if (!it.ignoresRules) {
    const { name: operation, method } = it;
    const json = it.isBulk || it.accepts === 'upload' || it.accepts === 'text' ? undefined : rawBody;
    const path = toAuditPath(it, request);
    await options.enforceRules(actor, { operation, method, path, query: rawQuery, body: json });
  }
  const note = isMutation(it) ? readChangeNote(request.headers) : undefined;
  const isSecure = request.protocol === 'https';
  const { versions, auditTarget, ...own } = callContext;
  const call = { params, query, body, address: request.ip, isSecure, ...own };
  const context = { author: toAuthor(it, request, actor, note), rows: versions, objectNames: auditTarget.names };
  const handle = (): Promise<unknown> =>
    runInOperationContext(context, () => it.handle(call as never, options.services as never));
  const unreadable: UnreadableRows = new Map();
  if (isLenient) callContext.header('Preference-Applied', 'handling=lenient');
  const write = isLenient ? () => runLenient(handle) : handle;
  const repeated = readIdempotentRequest(it, request, actor, { rawBody, body }, options.hashVersion);
  const value = isMutation(it)
    ? await (repeated ? runRepeatable(repeated, write, options, callContext) : write())
    : await collectUnreadableRows(unreadable, handle);
  const further = [...warnings, ...reportUnreadable(unreadable, options.log)];
  return addWarnings(
    options.validateResponses ? validateResponse(it, value) : value,
    isMutation(it) ? { warnings: [...ignored, ...further] } : { warnings: further, inHeader: ignored },
    callContext.header,
  );
}

/** Runs a create under its idempotency key; a repetition has the audit object of the first request. */
async function runRepeatable(
  repeated: IdempotentRequest,
  handle: () => Promise<unknown>,
  { runOnce }: Pick<OperationRunOptions, 'runOnce'>,
  { audit, header, auditTarget }: CallContext,
): Promise<unknown> {
  const { value, isReplayed, object, orgId } = await runOnce(repeated, async () => ({
    value: await handle(),
    ...auditTarget,
  }));
  if (isReplayed) header('idempotency-replayed', 'true');
  audit(object, orgId);
  return value;
}

const maxUserAgentLength = 200;

/** Author of the changes that an operation makes. */
const toAuthor = (
  { name: operation, surface }: AnyOperation,
  request: FastifyRequest,
  actor: Actor,
  note: string | undefined,
): ChangeAuthor => ({
  id: actor.id,
  name: actor.name,
  surface,
  operation,
  address: request.ip,
  userAgent: (request.headers['user-agent'] ?? '').toWellFormed().slice(0, maxUserAgentLength),
  note,
});

/** Rows of one list that the log and the response name. */
const maxUnreadableNamed = 20;

/** Logs the rows that a list leaves out, and gives the warnings for the response. */
function reportUnreadable(unreadable: UnreadableRows, log: Log): string[] {
  if (unreadable.size === 0) return [];
  const named = [...unreadable].slice(0, maxUnreadableNamed);
  log.error({ count: unreadable.size, rows: Object.fromEntries(named) }, 'stored rows unreadable, left out of a list');
  return named.map(([id, reason]) => `${id} is left out: ${reason}`);
}

function validateResponse(it: AnyOperation, value: unknown): unknown {
  const result = it.returns.safeParse(value);
  if (!result.success) throw new Error(`${it.name} returned an invalid response: ${result.error.message}`);
  return value;
}

/** Rejects NUL characters in path and query, as in bodies: PostgreSQL cannot store them. */
function copyRejectingNul(given: unknown): Record<string, unknown> {
  const values = { ...(given as Record<string, unknown>) };
  for (const value of Object.values(values)) for (const text of [value].flat()) rejectNul(String(text));
  return values;
}

/** APIs that the path or the query of a request names. */
function listReferencedApis(request: FastifyRequest): string[] {
  const params = Object.entries(request.params as Record<string, string>);
  const { base_api_id, api_id } = request.query as Record<string, string | string[] | undefined>;
  const queried = [base_api_id, api_id].flat().flatMap(text => text?.split(',') ?? []);
  return [...params.filter(([name]) => /apiid$/i.test(name)).map(([, value]) => value), ...queried].map(it =>
    it.trim(),
  );
}

/** Path parameters by name; the router calls the rest of a path `*`. */
function readParams({ path, matchesRest }: AnyOperation, { params }: FastifyRequest): unknown {
  if (!matchesRest) return params;
  const { '*': rest = '', ...named } = params as Record<string, string>;
  return { ...named, [/\{([\w-]+)\}$/.exec(path)![1]!]: rest.replace(/\/$/, '') };
}
