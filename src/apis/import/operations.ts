import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { findDocumentKind } from '#definition/document-kind.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus, toWarningsMember } from '#operations/shapes.ts';
import { type ApiServices, addApi, checkDefinition } from '../api/changes.ts';
import { classicExample } from '../api/examples.ts';
import { type OwnerServices, resolveOwner } from '../api/owner.ts';
import { ImportedApi, mergeWrapper, normalizeCategories } from '../api/schema.ts';

export interface ImportServices extends ApiServices, OwnerServices {}

type Imported = z.output<typeof ImportedApi>;

export const importApis = operation({
  surface: 'admin',
  noun: 'apis',
  name: 'importApis',
  method: 'POST',
  changesTraffic: true,
  path: '/admin/apis/import',
  about:
    'Imports APIs, in the format of API lists, with their ids. Meta contains the result of each, Errors the reasons of failures.',
  permission: 'secret',
  body: readOnlyMembers(z.object({ apis: z.array(ImportedApi).min(1).max(10_000) }), ['pages']),
  example: { apis: [{ api_definition: { api_id: 'orders', ...classicExample } }] },
  returns: statusResponse.extend({ Errors: z.record(z.string(), z.string()) }),
  async handle({ actor, body, audit }, services: ImportServices) {
    const errors = new Map<string, string | undefined>();
    const warnings: string[] = [];
    for (const [at, given] of body.apis.entries()) {
      const { name, error, warned = [] } = await attempt({ actor, given, path: `apis[${at}]` }, services);
      errors.set(name, errors.get(name) ?? error);
      warnings.push(...warned.slice(0, maxWarnings - warnings.length));
    }
    audit([...errors.keys()].join(',').slice(0, maxAuditCharacters));
    const stored = Object.fromEntries([...errors].map(([name, error]) => [name, error === undefined]));
    const Errors = Object.fromEntries([...errors].filter(hasError));
    return { ...toStatus('APIs imported', stored), Errors, ...toWarningsMember({ warnings }) };
  },
});

const maxAuditCharacters = 1000;
const maxWarnings = 1000;
const hasError = (entry: [string, string | undefined]): entry is [string, string] => entry[1] !== undefined;

interface ImportEntry {
  readonly actor: Actor;
  readonly given: Imported;
  /** Its path in the body. */
  readonly path: string;
}

interface Attempt {
  readonly name: string;
  readonly error?: string;
  readonly warned?: readonly string[];
}

/** A problem of one API does not stop the others; an internal error does. */
async function attempt(entry: ImportEntry, services: ImportServices): Promise<Attempt> {
  try {
    return await importApi(entry, services);
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    const { api_id } = entry.given.api_definition;
    return { name: isId(api_id) ? api_id : entry.path, error: error.message };
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value);

async function importApi({ actor, given, path }: ImportEntry, services: ImportServices): Promise<Attempt> {
  const { api_definition: definition, oas, categories } = given;
  const { id, org_id } = definition;
  const orgId = await resolveOwner(services, typeof org_id === 'string' ? org_id : '');
  const written = oas
    ? checkDefinition(given.is_streams === true ? 'streams' : findDocumentKind(oas), oas, services, `${path}.oas`)
    : checkDefinition('classic', definition, services, `${path}.api_definition`);
  const wrapper = { ...mergeWrapper(given), categories: oas ? normalizeCategories(categories ?? []) : [] };
  const { api_id } = await addApi(services, { actor, orgId, written, wrapper, ...(isId(id) ? { id } : {}) });
  return { name: api_id, warned: written.warnings };
}

export const apiImportOperations = [importApis];
