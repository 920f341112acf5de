import { z } from 'zod';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';
import { formatOptionalTime, lenientBool, nonEmptyText, portalTime, references, textUpTo } from '../shapes.ts';

/** Articles: posts of the blog, and docs of products. Content and MarkdownContent are stored and returned as sent. */
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
export const ArticleWrite = readOnlyMembers(writable, readOnly);
const change = { Content: z.string().nullish(), Path: path.nullish() };
export const ArticleChange = readOnlyMembers(writable.extend(change), readOnly);
export type ArticleChange = z.output<typeof ArticleChange>;

const scheduled = writable.extend({
  PublishAt: portalTime
    .nullish()
    .describe('Date of the post. A published one is visible from then on; empty for the time of its creation'),
});
const readOnlyOfPosts = [...readOnly, 'Image', 'IsPublic'];
export const PostWrite = readOnlyMembers(scheduled, readOnlyOfPosts);
export const PostChange = readOnlyMembers(scheduled.extend(change), readOnlyOfPosts);

export interface StoredArticle {
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

/** Post of the blog; those of earlier versions have neither time nor image. */
export interface StoredPost extends StoredArticle {
  /** 0 for the time of creation. */
  PublishAt?: number;
  /** Time of the upload of the image; 0 without one. */
  ImageAt?: number;
}

/** Date of a post: visitors see a published one from then on. */
export const getPostDate = ({ PublishAt, CreatedAt }: Pick<StoredPost, 'PublishAt' | 'CreatedAt'>): number =>
  PublishAt || CreatedAt;

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
export const ArticleRow = z.object({
  ...texts,
  ID: z.int(),
  Type: z.string(),
  Categories: z.array(z.string()),
  Tags: z.array(z.string()),
});

const ofPosts = {
  PublishAt: z.string(),
  Image: z.string().describe('Path of the image; empty without one'),
  IsPublic: z.boolean().describe('It is published, and its time has come'),
};
export const PostRow = ArticleRow.extend(ofPosts);

export const Post = z.object({
  ...texts,
  ...ofPosts,
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

const times = ({ CreatedAt, UpdatedAt }: StoredArticle) => ({
  CreatedAt: formatOptionalTime(CreatedAt),
  UpdatedAt: formatOptionalTime(UpdatedAt),
});

export function toArticleRow(
  article: StoredArticle,
  { categories, tags }: PostLabels,
): Omit<z.input<typeof ArticleRow>, 'Type'> {
  const { MarkdownContent: _markdown, PreviewContent: _preview, ...row } = article;
  const names = (labelled: readonly StoredLabel[]) => labelled.map(({ Name }) => Name);
  return { ...row, ...times(article), Categories: names(categories), Tags: names(tags) };
}

/** Labels of a post, and whether visitors see it. */
export interface PostState extends PostLabels {
  readonly isPublic: boolean;
}

const toOwnMembers = ({ ID, PublishAt, ImageAt }: StoredPost, { isPublic }: PostState) => ({
  PublishAt: formatOptionalTime(PublishAt || undefined),
  Image: ImageAt ? `/portal-api/posts/${ID}/image` : '',
  IsPublic: isPublic,
});

export function toPostRow(post: StoredPost, state: PostState): z.input<typeof PostRow> {
  const { ImageAt: _image, PublishAt: _time, ...article } = post;
  return { ...toArticleRow(article, state), Type: 'blog', ...toOwnMembers(post, state) };
}

export function toPostView(post: StoredPost, state: PostState): z.input<typeof Post> {
  const { ImageAt: _image, ...article } = post;
  return {
    ...article,
    ...times(post),
    ...toOwnMembers(post, state),
    ID: String(post.ID),
    Categories: state.categories.map(toLabelView),
    Tags: state.tags.map(toLabelView),
  };
}
