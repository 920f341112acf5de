import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { canEditAttribute, checkAttributeValue } from './rules.ts';
import type { StoredAttribute, StoredAttributeValue } from './schema.ts';

type Services = Pick<PortalServices, 'portal'>;

interface LockedValue {
  readonly attribute: StoredAttribute;
  readonly stored: StoredAttributeValue | undefined;
}

/**
 * Inside a transaction: locks attributes in the order of their numbers, then the user, against removal and concurrent
 * writes.
 */
export async function lockAttributeValues(
  userId: number,
  attributeIds: readonly number[],
  { portal }: Services,
  missing: Missing,
): Promise<LockedValue[]> {
  const attributes: StoredAttribute[] = [];
  for (const id of attributeIds.toSorted((a, b) => a - b))
    attributes.push(present(await portal.attributes.custom.lock(id), 'Custom attribute', missing));
  present(await portal.users.lock(userId), 'User', missing);
  const stored = new Map((await portal.attributes.values.ofUser(userId)).map(it => [it.AttributeID, it]));
  return attributes.map(attribute => ({ attribute, stored: stored.get(attribute.ID) }));
}

/** Refuses to change a value that is written once, and to clear one that is required. */
export function refuseValueChange(attribute: StoredAttribute, before: string | undefined, value: string): void {
  if (attribute.WriteOnceReadMany && before !== undefined && before !== value) throw problem.attribute_read_only();
  if (attribute.Required && value === '') throw problem.attribute_required();
}

/**
 * Inside a transaction: sets values of a user, by the number of their attribute; an empty one clears it. The user alone
 * is bound by what users may do with the attribute, as it is once it is locked.
 */
export async function changeAttributeValues(
  userId: number,
  changes: ReadonlyMap<number, string>,
  by: 'user' | 'administrator',
  services: Services,
): Promise<StoredAttribute[]> {
  const { values } = services.portal.attributes;
  const locked = await lockAttributeValues(userId, [...changes.keys()], services, 'unknown');
  for (const { attribute, stored } of locked) {
    const value = changes.get(attribute.ID)!;
    refuseValueChange(attribute, stored?.Value, value);
    const before = stored?.Value ?? '';
    if (by === 'user' && value !== before && !canEditAttribute(attribute, before))
      throw problem.attribute_not_editable({ detail: { name: attribute.Name } });
    if (value !== '') {
      checkAttributeValue(attribute, value);
      await values.set(userId, attribute.ID, value);
    } else if (stored) await values.remove(stored.ID);
  }
  return locked.map(({ attribute }) => attribute);
}
