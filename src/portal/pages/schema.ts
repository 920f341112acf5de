import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import {
  chosenCid,
  formatOptionalTime,
  intBetween,
  lenientBool,
  nonEmptyText,
  optionalMember,
  textUpTo,
} from '../shapes.ts';

/** Page of the portal: a template of the theme, filled with content blocks by their names. */
const status = z.enum(['Draft', 'Published']);

const path = textUpTo()
  .regex(/^\/[^\s?#%\\]*$/, 'must begin with / and not contain spaces, ?, #, % or \\')
  .refine(text => !text.split('/').some(segment => segment === '.' || segment === '..'), 'must not contain . or ..')
  .refine(text => !text.includes('//'), 'must not contain //')
  .refine(text => text === '/' || !text.endsWith('/'), 'must not end with /');

/** The configuration reports forms as disabled. */
const noForms = lenientBool.refine(isAllowed => !isAllowed, 'must be false: the portal has no forms');

const writable = z.object({
  CID: optionalMember(chosenCid),
  Title: nonEmptyText(),
  Path: path,
  Template: nonEmptyText(),
  Status: optionalMember(status).describe('Visitors of the portal see published ones'),
  AllowFormSubmission: optionalMember(noForms).describe('false: the portal has no forms'),
  PageTypeID: optionalMember(intBetween(0, 1_000_000)).describe('Stored without an effect'),
});
const readOnly = ['ID', 'CreatedAt', 'UpdatedAt'];
export const PageWrite = readOnlyMembers(writable, readOnly);
export const PageChange = readOnlyMembers(
  writable.omit({ CID: true }).partial({ Title: true, Path: true, Template: true }),
  [...readOnly, 'CID'],
);

export interface StoredPage {
  ID: number;
  CID: string;
  Title: string;
  Path: string;
  Template: string;
  Status: z.output<typeof status>;
  AllowFormSubmission: boolean;
  PageTypeID: number;
  CreatedAt: number;
  UpdatedAt: number;
}

export const PortalPage = z.object({
  ID: z.int(),
  CID: z.string(),
  Title: z.string(),
  Path: z.string(),
  Template: z.string(),
  Status: status,
  AllowFormSubmission: z.boolean(),
  PageTypeID: z.int(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

const formatTimes = ({ CreatedAt, UpdatedAt }: { CreatedAt: number; UpdatedAt: number }) => ({
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});

export const toPageView = (page: StoredPage): z.output<typeof PortalPage> => ({ ...page, ...formatTimes(page) });

const maxContentLength = 1_000_000;

const blockWritable = z.object({
  CID: optionalMember(chosenCid),
  Name: nonEmptyText(),
  Content: optionalMember(textUpTo(maxContentLength)),
  MarkdownEnabled: optionalMember(lenientBool),
  MarkdownContent: optionalMember(textUpTo(maxContentLength)),
});
const blockReadOnly = ['ID', 'PageID', 'CreatedAt', 'UpdatedAt'];
export const BlockWrite = readOnlyMembers(blockWritable, blockReadOnly);
export const BlockChange = readOnlyMembers(blockWritable.omit({ CID: true }).partial({ Name: true }), [
  ...blockReadOnly,
  'CID',
]);

export interface StoredBlock {
  ID: number;
  CID: string;
  PageID: number;
  Name: string;
  Content: string;
  MarkdownEnabled: boolean;
  MarkdownContent: string;
  CreatedAt: number;
  UpdatedAt: number;
}

export const Block = z.object({
  ID: z.int(),
  CID: z.string(),
  PageID: z.int(),
  Name: z.string(),
  Content: z.string(),
  MarkdownEnabled: z.boolean(),
  MarkdownContent: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toBlockView = (block: StoredBlock): z.output<typeof Block> => ({ ...block, ...formatTimes(block) });
