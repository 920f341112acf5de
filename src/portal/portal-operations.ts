import { accessRequestOperations } from './access-requests/operations.ts';
import { appOperations } from './apps/operations.ts';
import { catalogueOperations } from './catalogues/operations.ts';
import { credentialOperations } from './credentials/operations.ts';
import { portalOrganisationOperations } from './organisations/operations.ts';
import { teamOperations } from './organisations/team-operations.ts';
import { planOperations } from './plans/operations.ts';
import { productOperations } from './products/operations.ts';
import { providerOperations } from './providers/operations.ts';
import { portalUserOperations } from './users/operations.ts';

/** Operations of publishing and access. */
export const portalOperations = [
  ...providerOperations,
  ...productOperations,
  ...planOperations,
  ...catalogueOperations,
  ...portalOrganisationOperations,
  ...teamOperations,
  ...portalUserOperations,
  ...appOperations,
  ...credentialOperations,
  ...accessRequestOperations,
];
