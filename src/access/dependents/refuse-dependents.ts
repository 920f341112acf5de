import type { Ownership } from '#apis/owners/store.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import type { Dependent, RefuseDependents } from '#operations/dependents.ts';
import { problem } from '#operations/problems.ts';
import type { KeyStore } from '../keys/store.ts';
import { type DependentServices, dependentFinders, type FoundDependent, findToolProxies } from './find-dependents.ts';

/** Dependents that a response names. */
const maxNamed = 100;
/** Dependents that a refusal names. */
const maxNamedInRefusal = 10;

/** Permission to read each kind of dependent. */
const permissions: Readonly<Record<string, string>> = {
  apis: 'apis:read',
  policies: 'policies:read',
  keys: 'keys:read',
  'oauth clients': 'oauth:read',
  users: 'users:read',
  'sso profiles': 'idm:read',
};

/** Dependents as a caller may see them: those it must not read are counted alone. */
export interface VisibleDependents {
  readonly named: readonly Dependent[];
  readonly total: number;
}

export async function showDependents(
  { ownership, keys }: { readonly ownership: Ownership; readonly keys: Pick<KeyStore, 'isVisible'> },
  actor: Actor,
  found: readonly FoundDependent[],
): Promise<VisibleDependents> {
  const hidden = await ownership.findHidden(actor);
  const canRead = async ({ kind, id, keyRow }: FoundDependent) => {
    if (actor.surface === 'dashboard' && !hasPermission(actor, permissions[kind]!)) return false;
    return keyRow ? keys.isVisible(keyRow, hidden.apiIds) : !(kind === 'apis' && hidden.has(id));
  };
  const named: Dependent[] = [];
  for (const it of found) {
    if (named.length >= maxNamed) break;
    if (await canRead(it)) named.push({ kind: it.kind, id: it.id, name: it.name });
  }
  return { named, total: found.length };
}

export const createRefuseDependents =
  (services: DependentServices & { ownership: Ownership; settings: Settings }): RefuseDependents =>
  async (kind, { actor, orgId, ref }, force) => {
    const isChecked = !(force ?? !services.settings['management.delete_requires_force']);
    if (!isChecked && (force === true || kind !== 'apis')) return;
    const found = isChecked
      ? await dependentFinders[kind](services, orgId, ref)
      : await findToolProxies(services, orgId, ref);
    if (!found || found.length === 0) return;
    const { named, total } = await showDependents(services, actor, found);
    const shown = named.slice(0, maxNamedInRefusal).map(it => `${it.kind} ${it.name}`);
    const rest = total - shown.length;
    const list = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
    throw problem.has_dependents({ detail: { list } });
  };
