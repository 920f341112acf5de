import { z } from 'zod';
import { addApi, type CheckedDefinition, changeApi, checkDefinition, removeApi } from '#apis/api/changes.ts';
import {
  ClassicWrite,
  categoryList,
  emptyWrapper,
  normalizeCategories,
  type StoredApi,
  type Wrapper,
} from '#apis/api/schema.ts';
import { mapApiSecrets, restoreSecrets } from '#apis/api/secrets.ts';
import { createApi, deleteApi, updateApi } from '#apis/classic/operations.ts';
import { createMcp, deleteMcp, updateMcp } from '#apis/mcp/operations.ts';
import { createDocument, updateDocument } from '#apis/oas/operations.ts';
import { problem as apiProblem } from '#apis/problems.ts';
import { createStreams, updateStreams } from '#apis/streams/operations.ts';
import { isZeroValue } from '#base/json-tree.ts';
import { freeForm } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { redactedText } from '#base/redaction.ts';
import { streamingName } from '#definition/document-members.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { createInvalidProblem, listValidationErrors } from '#operations/validation-error.ts';
import {
  authorize,
  type CheckedObject,
  type CheckInput,
  checkSpec,
  type Kind,
  type RunContext,
  type StoredObject,
} from '../kind.ts';
import { listAll } from '../list-all.ts';
import type { Spec } from '../schema.ts';
import { summarizeSpec } from './api-summary.ts';
import { toPortableCertificates, toStoredCertificates } from './certificate-names.ts';
import { databaseId, ensureSameDatabaseId } from './database-id.ts';
import { withApiId, withoutIds } from './definition-ids.ts';
import { createOwnerNames, type OwnerNames, resolveOwners } from './owner-names.ts';

const ApiSpec = z.object({
  format: z.enum(['classic', 'oas', 'streams', 'mcp']),
  database_id: databaseId.optional(),
  definition: freeForm(z.looseObject({})),
  categories: categoryList.optional(),
  hook_references: ClassicWrite.shape.hook_references,
  is_site: z.boolean().optional(),
  sort_by: z.int().optional(),
  user_owners: z.array(z.string().max(254)).max(1000).optional(),
  user_group_owners: z.array(z.string().max(64)).max(1000).optional(),
  more: freeForm(z.looseObject({})).optional(),
});

const wrapperMembers = ['categories', 'hook_references', 'is_site', 'sort_by', 'user_group_owners', 'more'] as const;

type Written = Pick<StoredApi, 'kind' | 'definition' | 'wrapper'>;

/** Spec of an API; members beside the definition that are empty are left out. */
function toSpec({ kind, definition, wrapper }: Written, orgId: string, owners: readonly string[]): Spec {
  const beside = wrapperMembers.map(name => [name, wrapper[name]] as const).filter(([, value]) => !isZeroValue(value));
  return {
    format: kind,
    definition: toPortableCertificates(withoutIds(kind, definition), orgId),
    ...Object.fromEntries(beside),
    ...(owners.length > 0 && { user_owners: owners }),
  };
}

const toStoredObject = (api: StoredApi, names: OwnerNames): StoredObject => ({
  id: api.api_id,
  spec: { ...toSpec(api, api.org_id, api.wrapper.user_owners.map(names.toName)), database_id: api.id },
  source: api,
});

async function listAfter(context: RunContext, after: string, size: number): Promise<StoredObject[]> {
  const { services, actor } = context;
  const { apiIds: hidden } = await services.ownership.findHidden(actor);
  const names = await createOwnerNames(context);
  return (await services.apis.listAfter(actor.orgId, after, size, hidden)).map(api => toStoredObject(api, names));
}

interface CheckedApi {
  readonly written: CheckedDefinition;
  readonly wrapper: Omit<Wrapper, 'user_owners'>;
  readonly databaseId: string | undefined;
}

async function checkApi(context: RunContext, { id, given, before }: CheckInput): Promise<CheckedObject> {
  const { format, database_id, definition, ...members } = checkSpec(context, ApiSpec, { id, given });
  const { services, actor } = context;
  const stored = before?.source as StoredApi | undefined;
  if (stored) ensureSameDatabaseId(database_id, stored.id);
  if (stored && stored.kind !== format) throw apiProblem.other_form();
  if (format === 'oas' && streamingName in definition)
    throw createInvalidProblem([{ path: 'format', message: `must be streams, for ${streamingName}` }]);
  if (format === 'classic' && members.categories)
    throw createInvalidProblem([{ path: 'categories', message: 'of a classic API are words of its name' }]);
  const local = withApiId(format, toStoredCertificates(definition, actor.orgId), id);
  const written = checkDefinition(format, local, services, 'definition');
  for (const warning of written.warnings) context.notices.add(`${id}: ${warning}`);
  const { user_owners = [], categories = [], hook_references, ...beside } = members;
  const wrapper = {
    ...emptyWrapper,
    ...beside,
    hook_references: hook_references ?? [],
    categories: normalizeCategories(categories),
  };
  const restored = restoreMasks({ ...written, wrapper }, stored);
  const names = await createOwnerNames(context);
  const spec = toSpec(restored, actor.orgId, user_owners.map(names.toName));
  const checked: CheckedApi = {
    written: { ...written, definition: restored.definition } as CheckedDefinition,
    wrapper: restored.wrapper,
    databaseId: database_id,
  };
  return { id, given, spec: { ...spec, database_id: stored?.id ?? database_id }, checked };
}

/** Stored secrets in place of masks; errors have paths below the spec. */
function restoreMasks<T extends Parameters<typeof restoreSecrets>[0]>(written: T, stored: StoredApi | undefined): T {
  try {
    return restoreSecrets(written, stored);
  } catch (error) {
    const errors = error instanceof Problem ? listValidationErrors(error) : undefined;
    if (!errors) throw error;
    const isBeside = (path: string) => /^(hook_references|more)\b/.test(path);
    throw createInvalidProblem(
      errors.map(({ path, message }) => ({ path: isBeside(path) ? path : `definition.${path}`, message })),
    );
  }
}

const operationsOf: Readonly<Record<StoredApi['kind'], { create: AnyOperation; update: AnyOperation }>> = {
  classic: { create: createApi, update: updateApi },
  oas: { create: createDocument, update: updateDocument },
  streams: { create: createStreams, update: updateStreams },
  mcp: { create: createMcp, update: updateMcp },
};

/** Request body of the single operation, as rules see it. */
const toBody = ({ written, wrapper }: CheckedApi): unknown =>
  written.kind === 'classic' ? { ...wrapper.more, ...wrapper, api_definition: written.definition } : written.definition;

async function toWrapper(context: RunContext, { wrapper }: CheckedApi, { spec }: CheckedObject): Promise<Wrapper> {
  const user_owners = await resolveOwners(context, (spec.user_owners ?? []) as readonly string[]);
  return { ...wrapper, user_owners };
}

/** APIs in every format, by public id. */
export const apiKind: Kind = {
  name: 'api',
  permission: 'apis',
  list: context => listAll(listAfter, context),
  listAfter,
  check: checkApi,
  async release({ services }, updates) {
    const moved = updates.filter(({ object, before }) => isMoved(before.source as StoredApi, object.spec));
    await services.apis.releaseRoutes(moved.map(({ before }) => (before.source as StoredApi).id));
  },
  mask: maskSpec,
  async create(context, object) {
    const { services, actor } = context;
    const checked = object.checked as CheckedApi;
    const { written, databaseId: id } = checked;
    await authorize(context, operationsOf[written.kind].create, { body: toBody(checked) });
    const wrapper = await toWrapper(context, checked, object);
    await addApi(services, { actor, orgId: actor.orgId, written, wrapper, ...(id && { id }) });
  },
  async update(context, object) {
    const { services, actor } = context;
    const checked = object.checked as CheckedApi;
    const { written } = checked;
    await authorize(context, operationsOf[written.kind].update, {
      params: { apiId: object.id },
      body: toBody(checked),
    });
    const wrapper = await toWrapper(context, checked, object);
    await changeApi(services, { actor, orgId: actor.orgId, ref: object.id }, () => ({ ...written, wrapper }));
  },
  async remove(context, { id, source }) {
    const isMcp = (source as StoredApi).kind === 'mcp';
    await authorize(context, isMcp ? deleteMcp : deleteApi, { params: { apiId: id } });
    const { services, actor, force } = context;
    await services.refuseDependents('apis', { actor, orgId: actor.orgId, ref: id }, force);
    await removeApi(services, actor.orgId, id);
  },
};

function isMoved({ summary }: StoredApi, spec: Spec): boolean {
  const { domain, listen_path } = summarizeSpec(spec);
  return domain !== summary.domain || listen_path !== summary.listen_path;
}

function maskSpec(spec: Spec): Spec {
  const { format: kind, definition, hook_references, more } = spec as unknown as MaskedMembers;
  const plain = {
    kind,
    definition,
    wrapper: { ...emptyWrapper, hook_references: hook_references ?? [], more: more ?? {} },
  };
  const masked = mapApiSecrets(plain as StoredApi, () => redactedText);
  return {
    ...spec,
    definition: masked.definition,
    ...(hook_references && { hook_references: masked.wrapper.hook_references }),
    ...(more && { more: masked.wrapper.more }),
  };
}

interface MaskedMembers {
  readonly format: StoredApi['kind'];
  readonly definition: unknown;
  readonly hook_references?: readonly unknown[];
  readonly more?: Wrapper['more'];
}
