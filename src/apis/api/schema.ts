import { z } from 'zod';
import { freeForm, meaningfulNull, readOnlyMembers } from '#base/members.ts';
import { publishAs } from '#base/members-schema.ts';
import { classicSchema } from '#definition/classic.ts';
import type { ClassicDefinition, OasDefinition, StreamsDefinition } from '#definition/wire-types.ts';

/** Stored API: the definition exactly as written, and the members around it. */
interface StoredApiBase {
  /** The database id. */
  readonly id: string;
  readonly org_id: string;
  /** The public id, unique in the installation. */
  readonly api_id: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly wrapper: Wrapper;
  /** Derived from the definition at every write; lists filter by it. */
  readonly summary: Summary;
}

export type DefinitionOfKind =
  | { readonly kind: 'classic'; readonly definition: ClassicDefinition }
  | { readonly kind: 'oas'; readonly definition: OasDefinition }
  | { readonly kind: 'streams'; readonly definition: StreamsDefinition }
  | { readonly kind: 'mcp'; readonly definition: OasDefinition };

export type StoredApi = StoredApiBase & DefinitionOfKind;
export type ApiKind = DefinitionOfKind['kind'];

/** Facts derived from a definition in any format. */
export interface Summary {
  readonly name: string;
  /** Claimed route; both empty where there is none. */
  readonly domain: string;
  readonly listen_path: string;
  readonly categories: readonly string[];
  readonly auth_types: readonly string[];
  readonly api_types: readonly string[];
  readonly keeps_quota: boolean;
  /** Version name to the public id of the API that serves it. */
  readonly versions: Readonly<Record<string, string>>;
}

const ids = z.array(z.string().max(64)).max(1000);
const hookReference = z.looseObject({
  event_name: z.string().max(100),
  event_timeout: z.number().optional(),
  hook: freeForm(z.looseObject({})).nullish(),
});

/** Writable members around a definition. An absent list stays as it is; null empties it. */
const wrapperMembers = {
  hook_references: meaningfulNull(z.array(hookReference).max(1000).nullish()),
  is_site: z.boolean().optional(),
  sort_by: z.int().optional(),
  user_owners: meaningfulNull(ids.nullish()),
  user_group_owners: meaningfulNull(ids.nullish()),
};

export interface Wrapper {
  readonly hook_references: readonly unknown[];
  readonly is_site: boolean;
  readonly sort_by: number;
  readonly user_owners: readonly string[];
  readonly user_group_owners: readonly string[];
  /** Stored for OpenAPI documents; the categories of a classic API are words of its name. */
  readonly categories: readonly string[];
  readonly more: Readonly<Record<string, unknown>>;
}

export const emptyWrapper: Wrapper = {
  hook_references: [],
  is_site: false,
  sort_by: 0,
  user_owners: [],
  user_group_owners: [],
  categories: [],
  more: {},
};

/**
 * Publishes a schema without enforcing it: `checkDefinition` enforces it with a path for each error, and the value is
 * stored as sent.
 */
export const toDocumentedSchema = (shape: z.ZodType) =>
  publishAs(
    z.custom<unknown>(value => value !== undefined, { error: 'is required' }),
    shape,
  );

export const classicDefinition = toDocumentedSchema(classicSchema);

/** Request body that creates or replaces a classic API. */
export const ClassicWrite = readOnlyMembers(z.looseObject({ api_definition: classicDefinition, ...wrapperMembers }), [
  'api_model',
  'categories',
  'created_at',
  'updated_at',
  'is_streams',
  'oas',
]);

const maxCategoryLength = 200;
const maxCategories = 200;

/** Categories of a document, as on the wire. */
export const categoryList = z.array(z.string().max(maxCategoryLength)).max(maxCategories);

/** Drops blank and repeated categories. */
export const normalizeCategories = (labels: readonly string[]): string[] =>
  [...new Set(labels.map(label => label.toWellFormed().trim()))].filter(Boolean);

/** Import by the operator: either format, as lists return it. */
export const ImportedApi = readOnlyMembers(
  z.looseObject({
    api_definition: freeForm(z.looseObject({})),
    oas: freeForm(z.looseObject({})).nullish(),
    is_streams: z.boolean().optional(),
    categories: categoryList.nullish(),
    ...wrapperMembers,
  }),
  ['api_model', 'created_at', 'updated_at'],
);

type WrapperInput = z.output<typeof ImportedApi> | z.output<typeof ClassicWrite>;
const nonWrapperMembers = [
  'api_definition',
  'oas',
  'api_model',
  'is_streams',
  'categories',
  'created_at',
  'updated_at',
];

/** Merges sent members over stored ones: absent keeps, null empties. */
export function mergeWrapper(sent: WrapperInput, before: Wrapper = emptyWrapper): Wrapper {
  const { hook_references, is_site, sort_by, user_owners, user_group_owners, ...rest } = sent;
  const more = Object.fromEntries(Object.entries(rest).filter(([name]) => !nonWrapperMembers.includes(name)));
  const list = <T>(sent: readonly T[] | null | undefined, stored: readonly T[]) =>
    (sent === undefined ? stored : sent) ?? [];
  return {
    hook_references: list(hook_references, before.hook_references),
    is_site: is_site ?? before.is_site,
    sort_by: sort_by ?? before.sort_by,
    user_owners: list(user_owners, before.user_owners),
    user_group_owners: list(user_group_owners, before.user_group_owners),
    categories: before.categories,
    more: { ...before.more, ...more },
  };
}

/** API as lists and reads return it. */
export const ApiView = z.looseObject({
  api_model: z.object({}),
  api_definition: z.looseObject({ api_id: z.string(), id: z.string(), org_id: z.string(), is_oas: z.boolean() }),
  hook_references: z.array(z.unknown()),
  is_site: z.boolean(),
  sort_by: z.int(),
  user_owners: z.array(z.string()),
  user_group_owners: z.array(z.string()),
  categories: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
  is_streams: z.boolean().optional(),
  oas: z.looseObject({}).optional(),
});
export type ApiView = z.input<typeof ApiView>;

export const apiPage = z.object({ apis: z.array(ApiView), pages: z.int() });
