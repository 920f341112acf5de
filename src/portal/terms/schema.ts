import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { formatOptionalTime, intBetween, lenientBool, optionalMember } from '../shapes.ts';

/** A version of the terms of use, of the portal or of a product. The one that was published last is in force. */
export interface StoredTerms {
  ID: number;
  /** 0, or absent in those of earlier versions, for the portal. */
  ProductID?: number;
  Version: string;
  Content: string;
  /** 0 for a draft. */
  PublishedAt: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export interface StoredAcceptance {
  ID: number;
  TermsID: number;
  UserID: number;
  Email: string;
  /** Client address. */
  Address: string;
  AcceptedAt: number;
}

const maxContentChars = 200_000;
const version = z
  .string()
  .regex(/^[\w.-]{1,50}$/, 'must have up to 50 letters, digits, dots, hyphens and underscores')
  .refine(text => !/^\.+$/.test(text), 'must not be dots alone');
const writable = z.object({
  Version: version.describe('Name of the version, part of its address, such as `2030-01`'),
  Content: z.string().trim().min(1, 'must not be empty').max(maxContentChars).describe('Markdown, or HTML'),
  Published: optionalMember(lenientBool).describe('Puts the version in force: developers are asked to accept it'),
  ProductID: optionalMember(intBetween(0, Number.MAX_SAFE_INTEGER)).describe(
    'Product whose terms they are, accepted with a request of access; 0 for the portal',
  ),
});
const readOnly = ['ID', 'InForce', 'PublishedAt', 'CreatedAt', 'UpdatedAt'];
export const TermsWrite = readOnlyMembers(writable, readOnly);
export const TermsChange = readOnlyMembers(writable.partial({ Version: true, Content: true }), readOnly);

export const TermsVersion = z.object({
  ID: z.int(),
  ProductID: z.int(),
  Version: z.string(),
  Content: z.string(),
  Published: z.boolean(),
  InForce: z.boolean(),
  PublishedAt: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const TermsAcceptance = z.object({
  ID: z.int(),
  UserID: z.int(),
  Email: z.string(),
  Address: z.string(),
  AcceptedAt: z.string(),
});

export const toTermsView = (it: StoredTerms, currentId: number): z.output<typeof TermsVersion> => ({
  ID: it.ID,
  ProductID: it.ProductID ?? 0,
  Version: it.Version,
  Content: it.Content,
  Published: it.PublishedAt !== 0,
  InForce: it.ID === currentId,
  PublishedAt: formatOptionalTime(it.PublishedAt || undefined),
  CreatedAt: formatOptionalTime(it.CreatedAt),
  UpdatedAt: formatOptionalTime(it.UpdatedAt),
});

export const toAcceptanceView = ({ ID, UserID, Email, Address, AcceptedAt }: StoredAcceptance) => ({
  ID,
  UserID,
  Email,
  Address,
  AcceptedAt: formatOptionalTime(AcceptedAt),
});
