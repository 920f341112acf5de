import {
  type BlueprintLine,
  createLineProblem,
  type HeaderSection,
  joinLines,
  type ListSection,
  readItem,
  shorten,
  splitBlueprintLines,
  splitByHeader,
  splitByItem,
} from './blueprint-lines.ts';
import { type BlueprintParameter, parseParameters } from './blueprint-parameters.ts';
import { type BlueprintPayload, type PayloadOptions, parsePayload } from './blueprint-payloads.ts';

/** A request of a method to a resource, with its examples. */
export interface BlueprintAction {
  readonly number: number;
  readonly name: string;
  readonly method: string;
  /** URI template, of the resource or its own. */
  readonly uri: string;
  readonly group: string;
  readonly description: string;
  /** Parameters of the resource, then of the action. */
  readonly parameters: readonly BlueprintParameter[];
  readonly requests: readonly BlueprintPayload[];
  readonly responses: readonly BlueprintPayload[];
}

export interface Blueprint {
  readonly title: string;
  readonly description: string;
  /** Empty without one. */
  readonly host: string;
  readonly actions: readonly BlueprintAction[];
  /** By name of the resource. */
  readonly models: ReadonlyMap<string, BlueprintPayload>;
}

const maxActions = 5000;
const maxNameLength = 200;
/** A list item at the margin; Markdown allows three spaces. */
const maxSectionIndent = 3;

const methods = 'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE|CONNECT|LINK|UNLINK';
const patterns = {
  group: /^group\s+(\S.*)$/i,
  dataStructures: /^data structures$/i,
  method: new RegExp(`^(${methods})$`),
  methodAndUri: new RegExp(`^(${methods})\\s+(\\S+)$`),
  bracket: /^([^[\]]*)\[([^[\]]+)\]$/,
  uri: /^[/{]\S*$/,
} as const;

/** Meaning of a header. */
type Heading =
  | { readonly kind: 'text' }
  | { readonly kind: 'data-structures' }
  | { readonly kind: 'group'; readonly name: string }
  | { readonly kind: 'resource'; readonly name: string; readonly uri: string }
  | { readonly kind: 'action'; readonly name: string; readonly method: string; readonly uri: string }
  /** `# GET /orders`: a resource with one action. */
  | { readonly kind: 'resource-action'; readonly name: string; readonly method: string; readonly uri: string };

function readHeading(title: string): Heading {
  const group = patterns.group.exec(title)?.[1];
  if (group !== undefined) return { kind: 'group', name: group.slice(0, maxNameLength) };
  if (patterns.dataStructures.test(title)) return { kind: 'data-structures' };
  const [, before = '', bracketed] = patterns.bracket.exec(title) ?? [];
  const name = before.trim().slice(0, maxNameLength);
  const place = bracketed === undefined ? title : bracketed.trim();
  if (patterns.method.test(place)) return { kind: 'action', name, method: place, uri: '' };
  const [, method, uri = ''] = patterns.methodAndUri.exec(place) ?? [];
  if (method !== undefined && patterns.uri.test(uri))
    return { kind: bracketed === undefined ? 'resource-action' : 'action', name, method, uri };
  return patterns.uri.test(place) ? { kind: 'resource', name, uri: place } : { kind: 'text' };
}

type ActionHeading = Heading & { readonly kind: 'action' | 'resource-action' };

interface Resource {
  readonly name: string;
  readonly uri: string;
  parameters: readonly BlueprintParameter[];
}

/** State while the headers are read in their order. */
interface Reading {
  readonly options: PayloadOptions;
  readonly actions: BlueprintAction[];
  readonly models: Map<string, BlueprintPayload>;
  group: string;
  resource: Resource | undefined;
}

/** Parses an API Blueprint (FORMAT: 1A). */
export function parseBlueprint(text: string, options: PayloadOptions): Blueprint {
  const { preamble, sections } = splitByHeader(splitBlueprintLines(text));
  const metadata = readMetadata(preamble);
  const reading: Reading = { options, actions: [], models: new Map(), group: '', resource: undefined };
  const [first, ...others] = sections;
  const isTitled = first !== undefined && readHeading(first.title).kind === 'text';
  for (const section of joinText(isTitled ? others : sections, options)) addSection(reading, section);
  return {
    title: isTitled ? first.title.slice(0, maxNameLength) : 'API',
    description: isTitled ? joinLines(first.lines) : '',
    host: metadata.get('HOST') ?? '',
    actions: reading.actions,
    models: reading.models,
  };
}

/** `FORMAT: 1A` and other pairs at the start. */
function readMetadata(lines: readonly BlueprintLine[]): ReadonlyMap<string, string> {
  const metadata = new Map<string, string>();
  for (const { text, number } of lines) {
    if (text.trim() === '') continue;
    const [, name, value = ''] = /^([A-Za-z][\w-]*):(.*)$/.exec(text) ?? [];
    if (name === undefined) throw createLineProblem(number, `text before the first header: ${shorten(text.trim())}`);
    metadata.set(name.toUpperCase(), value.trim());
    if (name.toUpperCase() === 'FORMAT' && value.trim().toUpperCase() !== '1A')
      throw createLineProblem(number, `the format ${shorten(value.trim())} is not supported: use 1A`);
  }
  return metadata;
}

/** Headers that start nothing are text of the section before them; data structures are left out. */
function joinText(sections: readonly HeaderSection[], { warnings }: PayloadOptions): HeaderSection[] {
  const joined: (HeaderSection & { lines: BlueprintLine[] })[] = [];
  let droppedLevel = Number.POSITIVE_INFINITY;
  for (const section of sections) {
    const { kind } = readHeading(section.title);
    if (kind === 'data-structures') {
      warnings.add(`line ${section.number}: data structures are not converted`);
      droppedLevel = section.level;
    } else if (section.level > droppedLevel && kind === 'text') continue;
    else if (kind === 'text') joined.at(-1)?.lines.push(...section.lines);
    else {
      droppedLevel = Number.POSITIVE_INFINITY;
      joined.push({ ...section, lines: [...section.lines] });
    }
  }
  return joined;
}

function addSection(reading: Reading, section: HeaderSection): void {
  const heading = readHeading(section.title);
  if (heading.kind === 'group') {
    reading.group = heading.name;
    reading.resource = undefined;
  } else if (heading.kind === 'resource') {
    const { uri } = heading;
    reading.resource = { name: heading.name, uri, parameters: [] };
    readResource(reading, reading.resource, section);
  } else if (heading.kind === 'action' || heading.kind === 'resource-action') {
    if (heading.kind === 'resource-action') reading.resource = undefined;
    if (heading.uri === '' && !reading.resource)
      throw createLineProblem(section.number, `${heading.method} has no resource above it`);
    addAction(reading, heading, section);
  }
}

const keywordPattern =
  /^(parameters?|requests?|responses?|model|attributes?|relation|headers|body|schema)(?=[\s:(]|$)/i;
const readKeyword = (title: string) =>
  keywordPattern
    .exec(title)?.[1]
    ?.toLowerCase()
    .replace(/(request|response|parameter|attribute)s?$/, '$1');

function splitSections({ lines }: HeaderSection) {
  const { description, sections } = splitByItem(lines, title => readKeyword(title) !== undefined, maxSectionIndent);
  for (const { lines: content } of sections)
    for (const line of content) {
      const item = line.indent === 0 ? readItem(line) : undefined;
      if (item !== undefined) throw createLineProblem(line.number, `the section ${shorten(item)} is unknown`);
    }
  return { description: joinLines(description), sections };
}

/** A section that an action or resource may have, and that has no equal in OpenAPI. */
function warnOfSection({ title, number }: ListSection, { warnings }: PayloadOptions): void {
  warnings.add(`line ${number}: ${readKeyword(title)} sections are not converted`);
}

function readResource(reading: Reading, resource: Resource, section: HeaderSection): void {
  for (const item of splitSections(section).sections) {
    const keyword = readKeyword(item.title);
    if (keyword === 'parameter') resource.parameters = parseParameters(item);
    else if (keyword === 'model') reading.models.set(resource.name, parsePayload(item, reading.options));
    else if (keyword === 'attribute') warnOfSection(item, reading.options);
    else
      throw createLineProblem(item.number, `${shorten(item.title)} needs an action, such as ### Read [GET], above it`);
  }
}

function addAction(reading: Reading, heading: ActionHeading, section: HeaderSection): void {
  const { options, actions, resource, group } = reading;
  if (actions.length >= maxActions)
    throw createLineProblem(section.number, `there are more than ${maxActions} actions`);
  const { description, sections } = splitSections(section);
  let own: readonly BlueprintParameter[] = [];
  const [requests, responses]: [BlueprintPayload[], BlueprintPayload[]] = [[], []];
  for (const item of sections) {
    const keyword = readKeyword(item.title);
    if (keyword === 'parameter') own = parseParameters(item);
    else if (keyword === 'request') requests.push(parsePayload(item, options));
    else if (keyword === 'response') responses.push(parsePayload(item, options));
    else if (keyword === 'attribute' || keyword === 'relation') warnOfSection(item, options);
    else throw createLineProblem(item.number, `${shorten(item.title)} needs a request or response above it`);
  }
  const names = new Set(own.map(({ name }) => name));
  const inherited = (resource?.parameters ?? []).filter(({ name }) => !names.has(name));
  const uri = heading.uri || resource!.uri;
  // Further actions below have its URI.
  if (!resource) reading.resource = { name: heading.name, uri, parameters: own };
  actions.push({
    number: section.number,
    name: heading.name,
    method: heading.method,
    uri,
    group,
    description,
    parameters: [...inherited, ...own],
    requests,
    responses,
  });
}
