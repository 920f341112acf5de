import { z } from 'zod';
import { plainName } from '../organisations/schema.ts';
import { formatOptionalTime, lenientInt } from '../shapes.ts';

/** Request of a developer of the default organisation for one of its own. */
export const organisationRequestStatus = z.enum(['pending', 'approved', 'rejected']);

export interface StoredOrganisationRequest {
  ID: number;
  Name: string;
  /** Developer who becomes its administrator. */
  AdminID: number;
  AdminEmail: string;
  Status: z.output<typeof organisationRequestStatus>;
  /** Why it was rejected; empty without a reason. */
  Reason: string;
  /** Organisation that its approval created; 0 before. */
  OrganisationID: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export const OrganisationRequestWrite = z.object({
  Name: plainName.describe('Name of the organisation'),
  AdminID: lenientInt.describe('Developer of the default organisation who becomes its administrator'),
});

export const OrganisationRequest = z.object({
  ID: z.int(),
  Name: z.string(),
  AdminID: z.int(),
  AdminEmail: z.string(),
  Status: organisationRequestStatus,
  Reason: z.string(),
  OrganisationID: z.int(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toOrganisationRequestView = (it: StoredOrganisationRequest): z.output<typeof OrganisationRequest> => ({
  ...it,
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
});
