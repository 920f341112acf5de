import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import { readOnlyMembers } from '#base/members.ts';
import { lenientBool, nonEmptyText, optionalMember, portalTime, textUpTo } from '../shapes.ts';

/** Entry of the changelog of a product. */
export const changelogKinds = ['added', 'changed', 'deprecated', 'removed', 'fixed'] as const;

export interface StoredChange {
  ID: number;
  ProductID: number;
  Version: string;
  Kind: (typeof changelogKinds)[number];
  Headline: string;
  Text: string;
  ReleasedAt: number;
  /** Last subscriber, by number, who was notified; absent where none is left. */
  AnnouncedTo?: number;
  CreatedAt: number;
  UpdatedAt: number;
}

const writable = z.object({
  Version: optionalMember(textUpTo(50)),
  Kind: z.enum(changelogKinds),
  Headline: nonEmptyText(200).regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must be one line'),
  Text: optionalMember(textUpTo(20_000)).describe('Markdown'),
});
/** Members that only a new entry has. */
const released = {
  ReleasedAt: optionalMember(portalTime).describe('Time of the release, such as `2030-01-31 12:00`; now if omitted'),
  Notify: optionalMember(lenientBool).describe('False sends no notifications and mails to subscribers'),
};
const readOnly = ['ID', 'ProductID', 'CreatedAt', 'UpdatedAt'];
export const ChangelogWrite = readOnlyMembers(writable.extend(released), readOnly);
/** Members in place of those of a proposal. */
export const ProposalPublication = readOnlyMembers(writable.partial({ Kind: true, Headline: true }).extend(released), [
  ...readOnly,
  'Document',
  'IsBreaking',
  'Changes',
]);
/** Edits do not move the release. */
export const ChangelogChange = readOnlyMembers(writable.partial({ Kind: true, Headline: true }), [
  ...readOnly,
  'ReleasedAt',
]);

export const ChangelogEntry = z.object({
  ID: z.int(),
  ProductID: z.int(),
  Version: z.string(),
  Kind: z.enum(changelogKinds),
  Headline: z.string(),
  Text: z.string(),
  ReleasedAt: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toChangelogView = ({ AnnouncedTo: _to, ...it }: StoredChange): z.output<typeof ChangelogEntry> => ({
  ...it,
  ReleasedAt: formatPortalTime(it.ReleasedAt),
  CreatedAt: formatPortalTime(it.CreatedAt),
  UpdatedAt: formatPortalTime(it.UpdatedAt),
});
