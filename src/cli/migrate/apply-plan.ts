import { createHash } from 'node:crypto';
import { Problem } from '#base/problems.ts';
import type { catalogue } from '../../catalogue.ts';
import { type ControlClient, findOrUndefined } from '../control.ts';
import type { Document } from '../documents.ts';
import { problem } from '../problems.ts';
import type { SurfaceClient } from '../surface-client.ts';
import { readTokenOrganisation } from './key-organisation.ts';
import { type MigrationPlan, type PlannedObject, plannedKinds } from './plan.ts';

type OrganisationOperations = readonly Extract<
  (typeof catalogue)[number],
  { path: '/admin/organisations/import' | '/admin/organisations/{orgId}' }
>[];
export type OrganisationClient = SurfaceClient<OrganisationOperations>;

export interface MigrationTarget {
  readonly call: ControlClient;
  /** Undefined without the admin secret: organisations are not created then. */
  readonly callAdmin: OrganisationClient | undefined;
  /** Organisation that gets everything; undefined keeps the organisations of the export. */
  readonly orgId: string | undefined;
}

/** Result of one object. */
export interface MovedObject {
  readonly object: PlannedObject;
  readonly state: 'added' | 'present' | 'refused';
  /** Reason of a refusal, or for which an API is not served. */
  readonly reason: string;
  readonly isServed: boolean;
  /** Members without effect. */
  readonly warnings: readonly string[];
}

const extensionName = 'x-gw-api-gateway';
const toObject = (value: unknown): Document => (typeof value === 'object' && value !== null ? (value as Document) : {});
const toText = (value: unknown) => (typeof value === 'string' ? value : '');
const isDocument = (body: Document) => extensionName in body;
const readInfo = (body: Document) => toObject(toObject(body[extensionName]).info);

const readOrgId = ({ body }: PlannedObject): string => {
  if (typeof body === 'string') return '';
  return toText(isDocument(body) ? readInfo(body).orgId : body.org_id);
};

/** Writes the objects of a plan, one after the other. Objects that exist are not changed: a second run has no effect. */
export async function applyPlan(plan: MigrationPlan, target: MigrationTarget): Promise<MovedObject[]> {
  await createOrganisations(plan, target);
  const ordered = plannedKinds.flatMap(kind => plan.objects.filter(it => it.kind === kind));
  const results: MovedObject[] = [];
  const owner = findOwner(plan, target);
  for (const object of ordered) results.push(await moveObject(target, object, owner));
  return addServed(target.call, results);
}

/** Organisation of objects that name none, such as certificates: that of the export; undefined where it has several. */
function findOwner({ objects }: MigrationPlan, { orgId }: MigrationTarget): string | undefined {
  if (orgId !== undefined) return orgId;
  const named = [...new Set(objects.map(readOrgId).filter(Boolean))];
  return named.length > 1 ? undefined : (named[0] ?? '');
}

async function createOrganisations({ objects, organisations }: MigrationPlan, target: MigrationTarget): Promise<void> {
  const { callAdmin, orgId } = target;
  if (orgId !== undefined || !callAdmin) return;
  for (const id of new Set(objects.map(readOrgId).filter(Boolean))) {
    if (await findOrUndefined(callAdmin('GET /admin/organisations/{orgId}', { params: { orgId: id } }))) continue;
    const body = { id, owner_name: organisations.get(id) ?? id };
    // A refused id is reported by the objects that name it.
    await ignoreRefusal(callAdmin('POST /admin/organisations/import', { body }));
  }
}

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.code === problem.refused.code && error.status < 500;

async function ignoreRefusal(written: Promise<unknown>): Promise<void> {
  try {
    await written;
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

async function moveObject(
  target: MigrationTarget,
  object: PlannedObject,
  owner: string | undefined,
): Promise<MovedObject> {
  const reason = findRefusal(target, object, owner);
  if (reason) return { object, state: 'refused', reason, isServed: false, warnings: [] };
  try {
    const { state, warnings = [] } = await writers[object.kind](
      { ...target, owner: owner ?? '' },
      withOrganisation(object, target),
    );
    return { object, state, reason: '', isServed: true, warnings };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { object, state: 'refused', reason: error.message, isServed: false, warnings: [] };
  }
}

/** Objects that cannot be valid in the organisation that would get them. */
function findRefusal({ orgId }: MigrationTarget, object: PlannedObject, owner: string | undefined): string | undefined {
  if (object.kind === 'certificate' && owner === undefined)
    return 'the export has several organisations: set --org for its certificates';
  const named = object.kind === 'key' ? readTokenOrganisation(object.id) : undefined;
  if (named === undefined || named === (orgId ?? readOrgId(object))) return undefined;
  return `the key names the organisation ${named} and is valid there only`;
}

/** Ids of certificates begin with that of their organisation. */
function renameCertificates(body: Document, from: string, to: string): Document {
  if (!/^[0-9a-fA-F]{24}$/.test(from)) return body;
  const pattern = new RegExp(`"${from}([0-9a-f]{64})"`, 'g');
  return JSON.parse(
    JSON.stringify(body).replaceAll(pattern, (_whole, digest) => JSON.stringify(to + digest)),
  ) as Document;
}

/** Replaces the organisation where one gets everything. */
function withOrganisation(object: PlannedObject, { orgId }: MigrationTarget): PlannedObject {
  if (orgId === undefined || typeof object.body === 'string') return object;
  const body = renameCertificates(object.body, readOrgId(object), orgId);
  if (!isDocument(body)) return { ...object, body: { ...body, org_id: orgId } };
  const extension = toObject(body[extensionName]);
  return { ...object, body: { ...body, [extensionName]: { ...extension, info: { ...readInfo(body), orgId } } } };
}

interface Written {
  readonly state: 'added' | 'present';
  readonly warnings?: readonly string[] | undefined;
}

type Writer = (target: MigrationTarget & { readonly owner: string }, object: PlannedObject) => Promise<Written>;

const present: Written = { state: 'present' };
const toWritten = (response: object): Written => ({
  state: 'added',
  warnings: (response as { warnings?: readonly string[] }).warnings,
});
const toOwnerQuery = (orgId: string) => (orgId === '' ? {} : { org_id: orgId });

const writers: Readonly<Record<PlannedObject['kind'], Writer>> = {
  async certificate({ call, owner }, { body }) {
    try {
      return toWritten(await call('POST /gw/certs', { query: toOwnerQuery(owner), body: String(body) }));
    } catch (error) {
      if (isRefusal(error) && error.status === 409) return present;
      throw error;
    }
  },
  async API({ call }, { id, body }) {
    if (await findOrUndefined(call('GET /gw/apis/{apiId}', { params: { apiId: id } }))) return present;
    const document = body as Document;
    return toWritten(
      await call(isDocument(document) ? 'POST /gw/apis/oas' : 'POST /gw/apis', { body: document as never }),
    );
  },
  async policy({ call }, { id, body }) {
    const query = toOwnerQuery(readOrgId({ body } as PlannedObject));
    if (await findOrUndefined(call('GET /gw/policies/{policyID}', { params: { policyID: id }, query }))) return present;
    return toWritten(await call('POST /gw/policies', { body: body as Document }));
  },
  async 'OAuth client'({ call }, { body }) {
    try {
      const { org_id: _org, ...client } = body as Document;
      return toWritten(await call('POST /gw/oauth/clients/create', { body: client as never }));
    } catch (error) {
      if (isRefusal(error) && error.status === 409) return present;
      throw error;
    }
  },
  async key({ call }, { id, body }) {
    const query = toOwnerQuery(readOrgId({ body } as PlannedObject));
    const params = { keyID: id };
    if (await findOrUndefined(call('GET /gw/keys/{keyID}', { params, query }))) return present;
    return toWritten(await call('POST /gw/keys/{keyID}', { params, body: body as Document }));
  },
};

/** Status requests in flight at one time. */
const maxStatusRequests = 8;

/** Adds to each API whether it is served: a definition may need what the gateway does not have. */
async function addServed(call: ControlClient, results: readonly MovedObject[]): Promise<MovedObject[]> {
  const described = [...results];
  const rest = results.entries();
  if (results.some(({ object, state }) => object.kind === 'API' && state === 'added'))
    await call('GET /gw/reload', { query: { block: 'true' } });
  async function work(): Promise<void> {
    for (const [index, result] of rest) {
      if (result.object.kind !== 'API' || result.state === 'refused') continue;
      const status = await findOrUndefined(
        call('GET /gw/apis/{apiId}/status', { params: { apiId: result.object.id } }),
      );
      const { served = false, reason = 'removed meanwhile', warnings = [] } = status ?? {};
      described[index] = {
        ...result,
        isServed: served,
        reason,
        warnings: [...new Set([...result.warnings, ...warnings])],
      };
    }
  }
  await Promise.all(Array.from({ length: maxStatusRequests }, work));
  return described;
}

/** Label of an object in the table: keys are credentials, so a digest stands for them. */
export function toLabel({ kind, id }: PlannedObject): string {
  if (kind !== 'key') return id;
  return `#${createHash('sha256').update(id).digest('hex').slice(0, 12)}`;
}

/** Place of an object in the export. Files and maps of keys are named after the keys. */
export const toSource = (object: PlannedObject): string =>
  object.kind === 'key' ? object.source.replaceAll(object.id, toLabel(object)) : object.source;
