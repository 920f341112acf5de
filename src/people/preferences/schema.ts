import { z } from 'zod';

/** Preferences of a dashboard user for the web app. Each member is bounded, and so are all of them together. */

/** Stored size of all preferences of a user, as JSON. */
const maxPreferencesBytes = 65_536;
const maxLists = 50;
const maxColumnsPerList = 60;
const maxSavedViews = 100;
const maxFavourites = 100;
const maxHintsSeen = 300;
const maxTriedExamples = 50;
const maxExampleCharacters = 8000;
/** Longest query of a saved view: what fits into the address of a page. */
const maxQueryCharacters = 2000;

/** Name of a list, column or hint, as the web app has it. */
const slug = z
  .string()
  .regex(/^[A-Za-z0-9][\w.:/-]{0,99}$/, 'must be up to 100 letters, digits and _.:/-, a letter or digit first');
const title = z.string().trim().min(1, 'is required').max(200);

const hasNoDuplicates = (names: readonly string[]) => new Set(names).size === names.length;
const noDuplicates = 'has duplicates';

/** Language tag (RFC 5646, 2.1), by its canonical form. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

function isTimeZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const columns = z
  .record(slug, z.array(slug).max(maxColumnsPerList).refine(hasNoDuplicates, noDuplicates))
  .refine(lists => Object.keys(lists).length <= maxLists, `may hold at most ${maxLists} lists`);

const savedView = z.object({
  list: slug.describe('List that the view belongs to'),
  name: title,
  query: z.string().max(maxQueryCharacters).describe('Filters, order and page, as in the address of the page'),
});

const favourite = z.object({
  kind: slug.describe('Kind of the object, such as apis or policies'),
  id: z.string().min(1).max(200),
  name: z.string().max(500).default('').describe('Name at the time it was added'),
});

const triedExample = z.object({
  api_id: z.string().min(1).max(200).describe('API that the request is for'),
  name: title,
  method: z.string().regex(/^[A-Z]{1,20}$/, 'is not a method'),
  path: z.string().max(maxQueryCharacters).describe('Below the address of the API, with its query'),
  headers: z.string().max(maxExampleCharacters).default('').describe('One in each line, without credentials'),
  body: z.string().max(maxExampleCharacters).default(''),
});

const firstRun = z.object({
  step: z.int().min(0).max(20).default(0).describe('Last step of the introduction that was finished'),
  is_done: z.boolean().default(false).describe('The introduction was finished or skipped'),
});

export const Preferences = z
  .object({
    theme: z.enum(['system', 'light', 'dark', 'contrast']).default('system'),
    density: z.enum(['comfortable', 'compact']).default('comfortable'),
    language: z
      .string()
      .max(35)
      .refine(text => text === '' || isLanguageTag(text), 'is not a language tag such as en or pt-BR')
      .default('')
      .describe('Language tag; empty follows the browser'),
    time_zone: z
      .string()
      .max(64)
      .refine(text => text === '' || isTimeZone(text), 'is not a time zone such as Europe/Berlin')
      .default('')
      .describe('IANA time zone; empty follows the browser'),
    toast_seconds: z.int().min(1).max(60).default(5).describe('Time for which a message about a success is shown'),
    single_key_shortcuts: z.boolean().default(true).describe('Keyboard shortcuts of a single letter'),
    is_menu_collapsed: z.boolean().default(false),
    columns: columns.default({}).describe('Columns of each list, in order'),
    saved_views: z.array(savedView).max(maxSavedViews).default([]),
    favourites: z
      .array(favourite)
      .max(maxFavourites)
      .refine(list => hasNoDuplicates(list.map(({ kind, id }) => `${kind} ${id}`)), noDuplicates)
      .default([]),
    hints_seen: z.array(slug).max(maxHintsSeen).refine(hasNoDuplicates, noDuplicates).default([]),
    tried_examples: z
      .array(triedExample)
      .max(maxTriedExamples)
      .refine(list => hasNoDuplicates(list.map(it => `${it.api_id} ${it.name}`)), noDuplicates)
      .default([])
      .describe('Requests that the user has saved to try APIs with'),
    first_run: firstRun.default({ step: 0, is_done: false }),
  })
  .refine(
    preferences => Buffer.byteLength(JSON.stringify(preferences)) <= maxPreferencesBytes,
    `all preferences together may have at most ${maxPreferencesBytes} bytes`,
  );
export type Preferences = z.output<typeof Preferences>;

export const defaultPreferences: Preferences = Preferences.parse({});
