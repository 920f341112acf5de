import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { maxPemChars } from '../certificates/client-certificate.ts';
import {
  formatOptionalTime,
  intBetween,
  lenientBool,
  lenientInt,
  nonEmptyText,
  optionalMember,
  textUpTo,
} from '../shapes.ts';

/** Length of a note to those who decide about a request. */
export const maxNoteChars = 1000;

/** App of a developer: requests access and holds credentials. */
const visibility = z.enum(['personal', 'team', 'organisation']);

const writable = {
  Description: optionalMember(z.string().max(10_000)),
  RedirectURLs: optionalMember(textUpTo(10_000)),
  Visibility: optionalMember(visibility),
};
const readOnly = ['ID', 'UserEmail', 'Organisation', 'Products', 'CreatedAt', 'UpdatedAt', 'AccessRequests'];
export const AppWrite = readOnlyMembers(z.object({ ...writable, Name: nonEmptyText(), UserID: lenientInt }), readOnly);
export const AppChange = readOnlyMembers(
  z.object({ ...writable, Name: optionalMember(nonEmptyText()), UserID: optionalMember(lenientInt) }),
  readOnly,
);

export const Provision = z.object({
  PlanID: lenientInt,
  ProductIDs: z.array(intBetween(1, Number.MAX_SAFE_INTEGER)).min(1, 'must name a product').max(100),
  /** Catalogue of plan and products, by id or name; chosen when omitted. */
  Catalogue: optionalMember(z.union([lenientInt, nonEmptyText()])),
  ProvisionImmediately: optionalMember(lenientBool),
  DCRTemplateID: optionalMember(lenientInt).describe(
    'Client type of the OAuth client of a product with DCREnabled; its only one when omitted',
  ),
  RedirectURLs: optionalMember(textUpTo(10_000)).describe(
    'Addresses to which the OAuth client sends users back, separated by commas; those of the app when omitted',
  ),
  Certificate: optionalMember(z.string().max(maxPemChars)).describe(
    'Client certificate in the PEM format, without its private key, for products whose APIs require one; that of the organisation of the owner when omitted',
  ),
  CertificateName: optionalMember(textUpTo()).describe('Name of the certificate; its subject when omitted'),
  CertificateID: optionalMember(lenientInt).describe('A certificate that the app has, in place of a new one'),
  Note: optionalMember(textUpTo(maxNoteChars)).describe('Note of the developer to those who decide'),
});
export type Provision = z.output<typeof Provision>;

export interface StoredApp {
  ID: number;
  Name: string;
  Description: string;
  RedirectURLs: string;
  UserID: number;
  Visibility: z.output<typeof visibility>;
  CreatedAt: number;
  UpdatedAt: number;
}

export const AppRow = z.object({
  ID: z.int(),
  Name: z.string(),
  Description: z.string(),
  RedirectURLs: z.string(),
  UserID: z.int(),
  Visibility: visibility,
  CreatedAt: z.string(),
});

/** Row of a list of apps, with its owner and what it has access to. */
export const AppListRow = AppRow.extend({
  UserEmail: z.string().describe('Address of the owner'),
  Organisation: z.string().describe('Name of the organisation of the owner; empty for none'),
  Products: z.array(z.string()).describe('Names of the products of its approved access requests'),
});

export const toAppRow = ({ ID, Name, Description, RedirectURLs, UserID, Visibility, CreatedAt }: StoredApp) => ({
  ID,
  Name,
  Description,
  RedirectURLs,
  UserID,
  Visibility,
  CreatedAt: formatOptionalTime(CreatedAt),
});
