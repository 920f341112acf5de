import type { HiddenApis, Ownership } from '#apis/owners/store.ts';
import { problem as apis } from '#apis/problems.ts';
import type { Actor } from '#operations/actor.ts';

/** Visibility of rights for users who do not own all APIs. */

interface RightsHolder {
  readonly access_rights?: Readonly<Record<string, unknown>> | null | undefined;
  readonly access_rights_array?: readonly { readonly api_id?: unknown }[] | null | undefined;
}

/** API ids in the rights of a key or policy. */
const apiIdsOf = ({ access_rights, access_rights_array }: RightsHolder): string[] => [
  ...Object.keys(access_rights ?? {}),
  ...(Array.isArray(access_rights_array) ? access_rights_array.map(it => String(it?.api_id ?? '')) : []),
];

export const grantsHidden = (granting: RightsHolder, hidden: HiddenApis): boolean =>
  apiIdsOf(granting).some(apiId => hidden.has(apiId));

/** Visible unless all granted APIs are hidden. */
export const isVisible = (granting: RightsHolder, hidden: HiddenApis): boolean =>
  !grantsHidden(granting, hidden) || apiIdsOf(granting).some(apiId => !hidden.has(apiId));

/** Copy without rights to hidden APIs. */
export function withoutHidden<T extends RightsHolder>(granting: T, hidden: HiddenApis): T {
  if (!grantsHidden(granting, hidden)) return granting;
  const { access_rights, access_rights_array } = granting;
  const rights = Object.entries(access_rights ?? {}).filter(([apiId]) => !hidden.has(apiId));
  const list = access_rights_array?.filter(it => !hidden.has(String(it?.api_id ?? '')));
  return { ...granting, access_rights: Object.fromEntries(rights), ...(list && { access_rights_array: list }) };
}

/** Refuses a write that adds or removes rights to an API the user does not own. */
export async function refuseHiddenRights(
  { ownership }: { ownership: Ownership },
  actor: Actor,
  ...granting: readonly RightsHolder[]
): Promise<void> {
  const hidden = await ownership.findHidden(actor);
  if (granting.some(it => grantsHidden(it, hidden))) throw apis.api_not_owned();
}
