import { z } from 'zod';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';
import { formatOptionalTime, lenientBool, nonEmptyText, references, textUpTo } from '../shapes.ts';

/** Blog post. Content and MarkdownContent are stored and returned as sent. */
const statuses = ['draft', 'review', 'published'] as const;
const status = z.string().toLowerCase().pipe(z.enum(statuses));
/** Last path segment of the post: no character that would end a path. */
const path = nonEmptyText().regex(/^[^\s?#%\\]+$/, 'must not contain spaces, ?, #, % or \\');
const maxLabels = 50;
/** Absent keeps them; null removes them. */
const labels = meaningfulNull(references.max(maxLabels).nullable().optional());

const optional = {
  Lede: textUpTo(5000).nullish(),
  Categories: labels,
  Tags: labels,
  MarkdownEnabled: lenientBool.nullish(),
  MarkdownContent: z.string().nullish(),
  PreviewContent: z.string().nullish(),
};

const writable = z.object({
  ...optional,
  Title: nonEmptyText(),
  Content: z.string().min(1, 'must not be empty'),
  Status: status.describe('Visitors of the portal see published ones'),
  Path: path,
});
/** `Type` is part of list rows. */
const readOnly = ['ID', 'Type', 'CreatedAt', 'UpdatedAt'];
export const PostWrite = readOnlyMembers(writable, readOnly);
export const PostChange = readOnlyMembers(
  writable.extend({ Content: z.string().nullish(), Path: path.nullish() }),
  readOnly,
);
export type PostChange = z.output<typeof PostChange>;

export interface StoredPost {
  ID: number;
  Title: string;
  Lede: string;
  Content: string;
  Status: (typeof statuses)[number];
  Path: string;
  /** Ids, in the order sent. */
  Categories: number[];
  Tags: number[];
  MarkdownEnabled: boolean;
  MarkdownContent: string;
  PreviewContent: string;
  CreatedAt: number;
  UpdatedAt: number;
}

/** A category or a tag. */
export interface StoredLabel {
  ID: number;
  CID: string;
  Name: string;
  CreatedAt: number;
  UpdatedAt: number;
}

export const Label = z.object({
  ID: z.string().regex(/^\d+$/),
  Name: z.string(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export const toLabelView = ({ ID, Name, CreatedAt, UpdatedAt }: StoredLabel) => ({
  ID: String(ID),
  Name,
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});

const texts = {
  Title: z.string(),
  Lede: z.string(),
  Content: z.string(),
  Status: z.enum(statuses),
  Path: z.string(),
  MarkdownEnabled: z.boolean(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
};

/** As in lists: a number as `ID`, and names only. */
export const PostRow = z.object({
  ...texts,
  ID: z.int(),
  Type: z.string(),
  Categories: z.array(z.string()),
  Tags: z.array(z.string()),
});

export const Post = z.object({
  ...texts,
  ID: z.string().regex(/^\d+$/),
  Categories: z.array(Label),
  Tags: z.array(Label),
  MarkdownContent: z.string(),
  PreviewContent: z.string(),
});

export interface PostLabels {
  categories: readonly StoredLabel[];
  tags: readonly StoredLabel[];
}

const times = ({ CreatedAt, UpdatedAt }: StoredPost) => ({
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});

export function toPostRow(post: StoredPost, { categories, tags }: PostLabels): z.input<typeof PostRow> {
  const { MarkdownContent: _markdown, PreviewContent: _preview, ...row } = post;
  const names = (labelled: readonly StoredLabel[]) => labelled.map(({ Name }) => Name);
  return { ...row, ...times(post), Type: 'blog', Categories: names(categories), Tags: names(tags) };
}

export const toPostView = (post: StoredPost, { categories, tags }: PostLabels): z.input<typeof Post> => ({
  ...post,
  ...times(post),
  ID: String(post.ID),
  Categories: categories.map(toLabelView),
  Tags: tags.map(toLabelView),
});
