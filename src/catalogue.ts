import { certificateOperations } from '#access/certificates/operations.ts';
import { hookOperations } from '#events/hooks/operations.ts';
import { organisationOperations } from '#people/organisations/operations.ts';
import { adminUserOperations } from '#people/users/admin-operations.ts';
import { userOperations } from '#people/users/operations.ts';

/** All management operations, of every surface. What is not here does not exist. */
export const catalogue = [
  ...organisationOperations,
  ...adminUserOperations,
  ...userOperations,
  ...hookOperations,
  ...certificateOperations,
];
