import { deleteCertificate } from '#access/certificates/operations.ts';
import { deleteKey, patchKey } from '#access/keys/operations.ts';
import { deletePolicy } from '#access/policies/operations.ts';
import { activateApi, deactivateApi } from '#apis/activation/operations.ts';
import { deleteAsset } from '#apis/assets/operations.ts';
import { deleteApi } from '#apis/classic/operations.ts';
import { retryDelivery, retryHook } from '#events/deliveries/operations.ts';
import { deleteHook } from '#events/hooks/operations.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { deleteUserGroup } from '#people/groups/operations.ts';
import { deleteIdentityProfile } from '#people/single-sign-on/profiles/operations.ts';
import { deleteUser, revokeUser } from '#people/users/operations.ts';

/** Operation on one object, whose path has the id of the object as its only parameter. */
export interface BulkAction {
  readonly operation: Pick<AnyOperation, 'name' | 'method' | 'path' | 'permission'>;
  readonly query?: string;
  /** The operation gets the changes of the request as its body. */
  readonly hasChanges?: true;
}

/** Actions on many objects, by kind: each is an operation on one object. */
export const bulkActions = {
  apis: {
    activate: { operation: activateApi },
    deactivate: { operation: deactivateApi },
    delete: { operation: deleteApi },
  },
  policies: { delete: { operation: deletePolicy } },
  // Lists show ids or hashes of keys.
  keys: {
    change: { operation: patchKey, query: 'auto_guess=1', hasChanges: true },
    delete: { operation: deleteKey, query: 'auto_guess=1' },
  },
  certificates: { delete: { operation: deleteCertificate } },
  webhooks: { delete: { operation: deleteHook }, retry: { operation: retryHook } },
  deliveries: { retry: { operation: retryDelivery } },
  users: { delete: { operation: deleteUser }, revoke: { operation: revokeUser } },
  user_groups: { delete: { operation: deleteUserGroup } },
  templates: { delete: { operation: deleteAsset } },
  identity_profiles: { delete: { operation: deleteIdentityProfile } },
} as const satisfies Readonly<Record<string, Readonly<Record<string, BulkAction>>>>;

export type BulkKind = keyof typeof bulkActions;

export const findBulkAction = (kind: BulkKind, action: string): BulkAction | undefined => {
  const actions: Readonly<Record<string, BulkAction>> = bulkActions[kind];
  return Object.hasOwn(actions, action) ? actions[action] : undefined;
};
