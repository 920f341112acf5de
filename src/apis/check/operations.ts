import { z } from 'zod';
import { objectOrEmpty } from '#base/json-tree.ts';
import type { Problem } from '#base/problems.ts';
import { findDocumentKind } from '#definition/document-kind.ts';
import type { Model } from '#definition/model.ts';
import { oasSchema } from '#definition/oas.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { type ApiServices, buildChangedApi, buildNewApi, findFindings, validateDefinition } from '../api/changes.ts';
import { ensureSameId } from '../api/ensure-same-id.ts';
import { classicExample } from '../api/examples.ts';
import { toModel } from '../api/rules.ts';
import {
  type ApiKind,
  classicDefinition,
  type DefinitionOfKind,
  type StoredApi,
  toDocumentedSchema,
} from '../api/schema.ts';
import { type VersionOptions, versionQuery } from '../api/versions.ts';
import { collectProblems, listChangeChecks, listNewApiChecks, prepareBase } from '../api/write-checks.ts';
import { ensureClassic } from '../classic/operations.ts';
import { ensureOas } from '../oas/documents.ts';
import { problem } from '../problems.ts';
import { findPersistedFaults } from './persisted-operations.ts';
import { createCheckReport } from './report.ts';

interface CheckServices extends ApiServices {
  /** Features of a definition that the gateway does not offer. */
  listUnsupportedFeatures: (model: Model) => readonly string[];
}

const place = {
  pointer: z.string().describe('JSON pointer in the definition; empty for the definition as a whole'),
  path: z.string().describe('The same as in error messages'),
  message: z.string(),
};

export const checkApi = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'checkApi',
  changesNothing: true,
  method: 'POST',
  path: '/api/apis/check',
  about:
    'Checks a definition in either format without storing it: returns everything that a write would refuse, and warnings.',
  permission: 'apis:write',
  query: versionQuery.extend({
    api_id: z.string().max(64).optional().describe('API that the definition would replace; a new API without it'),
  }),
  body: z.object({
    api_definition: classicDefinition.optional().describe('Definition in the classic format'),
    oas: toDocumentedSchema(oasSchema).optional().describe('Definition in the OpenAPI format, with or without streams'),
  }),
  example: { api_definition: classicExample },
  returns: z.object({
    valid: z.boolean().describe('True where a write would succeed'),
    faults: z.array(z.object({ code: z.string(), ...place })),
    warnings: z.array(z.object({ rule: z.string(), level: z.enum(['warning', 'info']), ...place })),
  }),
  problems: [problem.definition_not_found],
  async handle({ actor, query, body, audit }, services: CheckServices) {
    const { kind, value } = selectDefinition(body);
    const before = await findBefore(services, actor, query.api_id);
    audit(query.api_id ?? '');
    const report = createCheckReport(kind, value);
    const checked = validateDefinition(kind, value, services);
    if (!checked.ok) {
      report.addErrors(checked.errors);
      return report.finish();
    }
    const write = { written: checked.definition, before, version: query };
    for (const found of await findProblems(services, actor, write)) report.addProblem(found);
    report.addMemberWarnings(checked.warnings ?? []);
    const model = toModel(checked.definition);
    report.addLint(model);
    if (kind === 'classic') report.addPersistedFaults(findPersistedFaults(objectOrEmpty(value), services.settings));
    report.addUnsupported(services.listUnsupportedFeatures(model));
    return report.finish();
  },
});

interface SentDefinitions {
  readonly api_definition?: unknown;
  readonly oas?: unknown;
}

/** The one definition of a request. */
function selectDefinition({ api_definition, oas }: SentDefinitions): { kind: ApiKind; value: unknown } {
  const hasClassic = api_definition !== undefined && api_definition !== null;
  const hasDocument = oas !== undefined && oas !== null;
  if (hasClassic === hasDocument)
    throw createInvalidProblem([{ path: '', message: 'either api_definition or oas is required' }]);
  if (hasClassic) return { kind: 'classic', value: api_definition };
  return { kind: findDocumentKind(oas), value: oas };
}

async function findBefore({ apis }: ApiServices, { orgId }: Actor, ref = ''): Promise<StoredApi | undefined> {
  if (ref === '') return undefined;
  const before = await apis.get(orgId, ref);
  if (!before) throw problem.definition_not_found();
  return before;
}

interface CheckedWrite {
  readonly written: DefinitionOfKind;
  readonly before: StoredApi | undefined;
  readonly version: VersionOptions;
}

/** Problems of the write that the definition is meant for. */
async function findProblems(
  services: ApiServices,
  actor: Actor,
  { written, before, version }: CheckedWrite,
): Promise<Problem[]> {
  const hidden = await services.ownership.hiddenApis(actor);
  const findings = findFindings(written);
  if (!before) {
    const api = buildNewApi(services, { actor, orgId: actor.orgId, written });
    const ofBase = async () => void (version.base_api_id && (await prepareBase(services, api, version)));
    return collectProblems([...listNewApiChecks(services, { api, findings, hidden, version }), ofBase]);
  }
  const buildNext = () => buildChangedApi(services, before, { ...written, wrapper: before.wrapper });
  const found = await collectProblems([
    () => ensureFormat(services, written, before),
    () => ensureSameId(written, before, written.kind === 'classic' ? 'api_id' : undefined),
    () => void buildNext(),
  ]);
  if (found.length > 0) return found;
  return collectProblems(listChangeChecks(services, { before, next: buildNext(), findings, hidden }));
}

/** Each format has its own operations: a write of another one is refused. */
function ensureFormat({ settings }: ApiServices, { kind }: DefinitionOfKind, before: StoredApi): void {
  if (kind === 'classic') ensureClassic(before, settings);
  else if (kind === 'oas') ensureOas(before);
  else if (before.kind !== kind) throw problem.definition_not_found();
}

export const apiCheckOperations = [checkApi];
