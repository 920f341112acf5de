import { z } from 'zod';
import { formatPortalTime } from '#base/clock.ts';
import type { DocumentDifference } from './document-differences.ts';
import { changelogKinds } from './schema.ts';

/** Proposed entry of a changelog: what differs between two versions of a document of the product. */
export interface StoredProposal {
  ID: number;
  ProductID: number;
  /** API or specification. */
  Document: string;
  Version: string;
  Kind: (typeof changelogKinds)[number];
  Headline: string;
  Text: string;
  IsBreaking: boolean;
  Changes: DocumentDifference[];
  CreatedAt: number;
}

export const ChangelogProposal = z.object({
  ID: z.int(),
  ProductID: z.int(),
  Document: z.string().describe('API or specification whose document changed'),
  Version: z.string(),
  Kind: z.enum(changelogKinds),
  Headline: z.string(),
  Text: z.string().describe('Markdown'),
  IsBreaking: z.boolean().describe('A client of the former version may fail'),
  Changes: z.array(
    z.object({
      Kind: z.enum(['added', 'changed', 'deprecated', 'removed']),
      IsBreaking: z.boolean(),
      Operation: z.string().describe('Method and path'),
      Text: z.string().describe('What changed in the operation; empty for a whole one'),
    }),
  ),
  CreatedAt: z.string(),
});

export const toProposalView = (it: StoredProposal): z.output<typeof ChangelogProposal> => ({
  ...it,
  CreatedAt: formatPortalTime(it.CreatedAt),
});
