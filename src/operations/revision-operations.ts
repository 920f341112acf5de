import { z } from 'zod';
import { diffJson, type JsonDiff } from '#base/json-diff.ts';
import type { ProblemFactory } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { ObjectHistory, Revision } from '#storage/revision-log.ts';
import type { Actor } from './actor.ts';
import { changeNoteAbout, changeNoteHeader } from './change-note.ts';
import { maxSummaryPhrases, summarizeChanges } from './change-words.ts';
import { operation, type Permission } from './operation.ts';
import { problem } from './problems.ts';
import { listRemovedObjects, removedList } from './removed-objects.ts';
import { revisionSummary, toRevisionSummary } from './revision-summary.ts';
import type { AuthorizedRequest } from './run-operation.ts';
import { pageQuery, statusResponse, toStatus } from './shapes.ts';

/** Services that every history needs. */
export interface RevisionServices {
  settings: Settings;
  rules: {
    /** Rejects a request that the rules of the actor's organisation deny. */
    enforceForActor(actor: Actor, request: AuthorizedRequest): Promise<void>;
  };
}

/** A restore of a state: an update, or a create where the object was removed. */
export interface RestoreCall<Doc> {
  readonly actor: Actor;
  readonly state: Doc;
  /** Database id of the object. */
  readonly objectId: string;
  readonly isExisting: boolean;
}

/** The plain operation that would write the same state: the rules of the organisation apply to a restore as to it. */
export type PlainWrite = Pick<AuthorizedRequest, 'operation' | 'method' | 'path' | 'body'>;

/** How one kind of object shows and restores its revisions. */
export interface RevisionDeclaration<Doc, Services, Plural extends string, Param extends string> {
  /** In names of operations: `listApiRevisions`. */
  readonly singular: string;
  /** In paths: `/api/revisions/apis/{apiId}`. */
  readonly plural: Plural;
  readonly param: Param;
  readonly noun: string;
  /** In words of a description: `an API`. */
  readonly article: string;
  readonly permissionName: string;
  /** A restore changes configuration that traffic threads load. */
  readonly changesTraffic?: true;
  readonly notFound: ProblemFactory;
  readonly problems?: readonly ProblemFactory[];
  history(services: Services): ObjectHistory<Doc> | undefined;
  /** State as a read returns it to a caller with every permission, without the times that each write changes. */
  toView(state: Doc): unknown;
  /** State as a read returns it to this caller; undefined where the caller must not see the object. */
  toViewFor(actor: Actor, services: Services): Promise<(state: Doc) => unknown | undefined>;
  /** Name of the object for people. */
  toName(state: Doc): string;
  isExisting(orgId: string, objectId: string, services: Services): Promise<boolean>;
  toPlainWrite(call: RestoreCall<Doc>): PlainWrite;
  restore(call: RestoreCall<Doc>, services: Services): Promise<void>;
}

/** Differences of one response. */
const maxChanges = 1000;
/** Changed members that an item of the list names. */
const maxPathsListed = 20;
/** States that a list reads at one time, and their size: each may be a large document. */
const maxRevisionsPerRead = 20;
const maxBytesPerRead = 8_388_608;
/** States of one list; revisions beyond are listed without the members that differ. */
const maxBytesPerList = 67_108_864;

const change = z.object({
  path: z.string().describe('JSON Pointer'),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
const listedRevision = revisionSummary.extend({
  paths: z.array(z.string()).describe(`The first ${maxPathsListed} members that differ from the revision before it`),
  summary: z
    .array(z.string())
    .describe(`These differences in words: at most ${maxSummaryPhrases}, then the number of others`),
  paths_omitted: z
    .literal(true)
    .optional()
    .describe(
      `The states of the list are larger than ${maxBytesPerList} bytes: those of this revision were not compared`,
    ),
});
const revisionList = z.object({ revisions: z.array(listedRevision), pages: z.int() });
const wholeRevision = revisionSummary.extend({
  state: z.unknown().describe('The object as a read returned it; null for a removal'),
  changes: z.array(change).describe('Differences from the revision before it'),
  is_truncated: z.boolean().describe(`There are more than ${maxChanges} differences`),
});
const comparison = z.object({ from: z.int(), to: z.int(), changes: z.array(change), is_truncated: z.boolean() });

const revisionNumber = z.coerce.number().int().min(1).max(1_000_000_000);

/** Operations on the history of one kind of object. */
export function declareRevisionOperations<
  Doc,
  Services extends RevisionServices,
  const Plural extends string,
  const Param extends string,
>(declaration: RevisionDeclaration<Doc, Services, Plural, Param>) {
  const { singular, plural, param, noun, article, permissionName, notFound } = declaration;
  const path = `/api/revisions/${plural}/{${param}}` as const;
  const declared = { surface: 'dashboard', noun } as const;
  const reading = `${permissionName}:read` satisfies Permission;
  const objectParams = z.object({ [param]: z.string() } as { [Name in Param]: z.ZodString });
  const revisionParams = objectParams.extend({ revision: revisionNumber });
  const refOf = (params: object) => String((params as Record<string, unknown>)[param]);
  const reader = createRevisionReader(declaration);

  const list = operation({
    ...declared,
    name: `list${singular}Revisions`,
    method: 'GET',
    path,
    about: `Lists the revisions of ${article}, also of a deleted one, newest first.`,
    permission: reading,
    params: objectParams,
    query: pageQuery,
    returns: revisionList,
    problems: [notFound],
    handle: ({ actor, params, query }, services: Services) => reader.list(actor, refOf(params), query.p, services),
  });

  const listRemoved = operation({
    ...declared,
    name: `list${singular}Deletions`,
    method: 'GET',
    path: `/api/revisions/${plural}`,
    about: `Lists the deleted objects of the kind of ${article} that can be restored, the last deleted first.`,
    permission: reading,
    query: pageQuery,
    returns: removedList,
    async handle({ actor, query }, services: Services) {
      const { toName, history, toViewFor } = declaration;
      const source = { actor, toName, history: history(services)!, view: await toViewFor(actor, services) };
      return listRemovedObjects(source, query.p, services.settings['management.page_size']);
    },
  });

  const get = operation({
    ...declared,
    name: `get${singular}Revision`,
    method: 'GET',
    path: `${path}/{revision}`,
    about: `Returns a revision of ${article}: its state, and the differences from the one before it.`,
    permission: reading,
    params: revisionParams,
    returns: wholeRevision,
    problems: [notFound, problem.revision_not_found],
    handle: ({ actor, params }, services: Services) =>
      reader.get(actor, refOf(params), Number((params as { revision: unknown }).revision), services),
  });

  const compare = operation({
    ...declared,
    name: `compare${singular}Revisions`,
    method: 'GET',
    path: `${path}/compare`,
    about: `Compares two revisions of ${article}.`,
    permission: reading,
    params: objectParams,
    query: z.object({
      from: revisionNumber.describe('The older revision'),
      to: revisionNumber.describe('The newer revision'),
    }),
    returns: comparison,
    problems: [notFound, problem.revision_not_found],
    handle: ({ actor, params, query }, services: Services) =>
      reader.diffRevisions(actor, refOf(params), query, services),
  });

  const restore = operation({
    ...declared,
    name: `restore${singular}Revision`,
    method: 'POST',
    ...(declaration.changesTraffic ? { changesTraffic: true } : {}),
    path: `${path}/{revision}/restore`,
    about: `Restores a revision of ${article} by the rules of an update. A deleted object is created with its ids.`,
    permission: `${permissionName}:write` satisfies Permission,
    params: revisionParams,
    headers: { [changeNoteHeader]: changeNoteAbout },
    returns: statusResponse,
    problems: [notFound, problem.revision_not_found, problem.revision_deleted, ...(declaration.problems ?? [])],
    async handle({ actor, params, audit }, services: Services) {
      audit(refOf(params));
      const number = Number((params as { revision: unknown }).revision);
      const { objectId, state } = await reader.requireRestorable(actor, refOf(params), number, services);
      audit(objectId);
      const isExisting = await declaration.isExisting(actor.orgId, objectId, services);
      const call = { actor, state, objectId, isExisting };
      await services.rules.enforceForActor(actor, { query: {}, ...declaration.toPlainWrite(call) });
      await declaration.restore(call, services);
      return toStatus(`Revision ${number} restored`, objectId);
    },
  });

  return [list, listRemoved, compare, get, restore] as const;
}

/**
 * Compares whole states at the places that the caller may read: a changed secret is listed with masks, a hidden member
 * or state is not.
 */
const createStateDiff =
  <Doc>(toView: (state: Doc) => unknown) =>
  (view: Viewer<Doc>, before: Doc | undefined, after: Doc | undefined): JsonDiff => {
    const showBoth = (state: Doc | undefined) => {
      const shown = state === undefined ? undefined : view(state);
      return shown === undefined ? { whole: {}, shown: {} } : { whole: toView(state!) ?? {}, shown };
    };
    const [old, next] = [showBoth(before), showBoth(after)];
    return diffJson(old.whole, next.whole, maxChanges, { before: old.shown, after: next.shown });
  };

/** Differences of a revision from the one before it, as a list has them. A new object is no change of members. */
function listDifferences<Doc>(
  diff: ReturnType<typeof createStateDiff<Doc>>,
  view: Viewer<Doc>,
  before: Doc | undefined,
  after: Doc | undefined,
) {
  const found = diff(view, before, after);
  const documents = {
    before: before === undefined ? undefined : view(before),
    after: after === undefined ? undefined : view(after),
  };
  const isUpdate = documents.before !== undefined && documents.after !== undefined;
  return {
    paths: found.changes.slice(0, maxPathsListed).map(({ path }) => path),
    summary: isUpdate ? summarizeChanges(found, documents) : [],
  };
}
const toDifferences = ({ changes, isTruncated }: JsonDiff) => ({ changes: [...changes], is_truncated: isTruncated });

type Viewer<Doc> = (state: Doc) => unknown | undefined;

/** Object whose history the caller may read. */
interface Readable<Doc> {
  readonly objectId: string;
  readonly view: Viewer<Doc>;
  readonly history: ObjectHistory<Doc>;
}

const isHidden = <Doc>(view: Viewer<Doc>, { state }: Revision<Doc>) => state !== undefined && view(state) === undefined;

/** A state that the caller could not have read, before its object had other owners, is not found. */
async function requireRevision<Doc>({ objectId, view, history }: Readable<Doc>, orgId: string, revision: number) {
  const row = await history.get(orgId, objectId, revision);
  if (!row || isHidden(view, row)) throw problem.revision_not_found({ detail: { revision } });
  return row;
}

const notCompared = { paths: [], summary: [] };

/** Revisions with the members that differ from the one before; newest first, below `first`. */
async function listRevisions<Doc>(
  diff: ReturnType<typeof createStateDiff<Doc>>,
  { objectId, view, history }: Readable<Doc>,
  actor: Actor,
  { first, size }: { readonly first: number; readonly size: number },
) {
  const revisions: z.input<typeof listedRevision>[] = [];
  let readBytes = 0;
  for (let next = first; revisions.length < size; next = revisions.at(-1)!.revision) {
    // One more, for the differences of the last one.
    const wanted = Math.min(maxRevisionsPerRead, size - revisions.length);
    const found = await history.listSizes(actor.orgId, objectId, wanted + 1, next);
    const { count, bytes } = countWithin(found, maxBytesPerRead);
    const isEnd = count === found.length && count <= wanted;
    const listed = found.slice(0, isEnd ? count : count - 1);
    if (readBytes > 0 && readBytes + bytes > maxBytesPerList)
      revisions.push(
        // The state, which is not read, tells whether the caller may see the note.
        ...listed.map(it => ({
          ...toRevisionSummary(actor, it),
          note: '',
          ...notCompared,
          paths_omitted: true as const,
        })),
      );
    else {
      readBytes += bytes;
      const rows = await history.list(actor.orgId, objectId, count, next);
      const compareRow = (row: Revision<Doc>, at: number) =>
        isHidden(view, row) ? notCompared : listDifferences(diff, view, rows[at + 1]?.state, row.state);
      revisions.push(
        ...rows.slice(0, listed.length).map((row, at) => {
          const summary = toRevisionSummary(actor, row);
          return { ...summary, ...(isHidden(view, row) ? { note: '' } : {}), ...compareRow(row, at) };
        }),
      );
    }
    if (isEnd) break;
  }
  return revisions;
}

/** The first items within a number of bytes; at least two, or all. */
function countWithin(items: readonly { readonly bytes: number }[], maxBytes: number) {
  let count = 0;
  let bytes = 0;
  for (const item of items) {
    if (count >= 2 && bytes + item.bytes > maxBytes) break;
    count++;
    bytes += item.bytes;
  }
  return { count, bytes };
}

/** Reads of the revisions that a caller may see. */
function createRevisionReader<Doc, Services extends RevisionServices, Plural extends string, Param extends string>({
  notFound,
  history,
  toView,
  toViewFor,
}: RevisionDeclaration<Doc, Services, Plural, Param>) {
  /** Object of a path. The caller must see its last state: ownership is that of the object, not of its history. */
  async function requireObject(actor: Actor, ref: string, services: Services): Promise<Readable<Doc>> {
    const found = history(services)!;
    const objectId = await found.findObject(actor.orgId, ref);
    const last = objectId === undefined ? undefined : await found.findLastState(actor.orgId, objectId);
    const view = await toViewFor(actor, services);
    if (objectId === undefined || last === undefined || view(last) === undefined) throw notFound();
    return { objectId, view, history: found };
  }

  const diff = createStateDiff(toView);

  return {
    async list(actor: Actor, ref: string, page: number, services: Services) {
      const object = await requireObject(actor, ref, services);
      const { objectId, history: found } = object;
      const total = await found.count(actor.orgId, objectId);
      const size = page < 1 ? Math.max(1, total) : services.settings['management.page_size'];
      const [newest] = await found.list(actor.orgId, objectId, 1);
      const first = (newest?.revision ?? 0) + 1 - (Math.max(page, 1) - 1) * size;
      const revisions = await listRevisions(diff, object, actor, { first, size });
      return { revisions, pages: Math.max(1, Math.ceil(total / size)) };
    },

    async get(actor: Actor, ref: string, revision: number, services: Services) {
      const object = await requireObject(actor, ref, services);
      const { objectId, view, history: found } = object;
      const row = await requireRevision(object, actor.orgId, revision);
      const [previous] = await found.list(actor.orgId, objectId, 1, revision);
      const before = previous && !isHidden(view, previous) ? previous.state : undefined;
      return {
        ...toRevisionSummary(actor, row),
        state: row.state === undefined ? null : view(row.state),
        ...toDifferences(diff(view, before, row.state)),
      };
    },

    async diffRevisions(actor: Actor, ref: string, { from, to }: { from: number; to: number }, services: Services) {
      const object = await requireObject(actor, ref, services);
      const before = await requireRevision(object, actor.orgId, from);
      const after = await requireRevision(object, actor.orgId, to);
      return { from, to, ...toDifferences(diff(object.view, before.state, after.state)) };
    },

    async requireRestorable(actor: Actor, ref: string, revision: number, services: Services) {
      const object = await requireObject(actor, ref, services);
      const { state } = await requireRevision(object, actor.orgId, revision);
      if (state === undefined) throw problem.revision_deleted({ detail: { revision } });
      return { objectId: object.objectId, state };
    },
  };
}
