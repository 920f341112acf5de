import { closestMatch } from '#base/closest-match.ts';
import type { JsonObject, JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import { extensionName } from './document-members.ts';
import { listOperations } from './endpoints/paths.ts';
import { gatewaySchemeNames } from './security-requirements.ts';
import { schemesPath } from './security-schemes.ts';
import type { Fault } from './validation-error.ts';

/** As many as are of use to the author; a hostile document could name millions. */
const maxUnknownNames = 100;

/** Suggestions compare letters: bounds on how many names are compared, and how long they may be. */
const maxSuggestions = 10;
const maxComparedNames = 5000;
const maxComparedLength = 100;

/**
 * Dangling names inside a document: the gateway's part configures operations by `operationId` and security schemes by
 * component name, and an entry that names neither has no effect. A misspelt `block` would block nothing.
 */
export function findUnknownNames(document: unknown): Fault[] {
  if (!isObject(document) || !isObject(document[extensionName])) return [];
  return [
    ...findUnknownOperations(document),
    ...findUnknownSchemes(document),
    ...findUnknownRequirements(document),
  ].slice(0, maxUnknownNames);
}

function findUnknownOperations(document: JsonObject): Fault[] {
  const known = listOperations(document.paths).map(({ id }) => id);
  return findUnknownEntries(document, ['middleware', 'operations'], known, 'the document has no operation of this id');
}

const undeclaredMessage = 'is not one of components.securitySchemes';

/** A document without schemes asks for a key, whatever the entries are called. */
function findUnknownSchemes(document: JsonObject): Fault[] {
  const known = Object.keys(objectOrEmpty(getAt(document, ['components', 'securitySchemes'])));
  if (known.length === 0) return [];
  return findUnknownEntries(document, schemesPath, known, undeclaredMessage);
}

/** Requirements of the gateway's own part: each name is a scheme of the document, or one that OpenAPI cannot name. */
function findUnknownRequirements(document: JsonObject): Fault[] {
  const path = ['server', 'authentication', 'security'];
  const known = [
    ...Object.keys(objectOrEmpty(getAt(document, ['components', 'securitySchemes']))),
    ...gatewaySchemeNames,
  ];
  const suggest = createSuggester(known);
  return arrayOrEmpty(getAt(document[extensionName], path)).flatMap((names, index) =>
    arrayOrEmpty(names).flatMap((name, position) =>
      typeof name !== 'string' || known.includes(name)
        ? []
        : [
            {
              path: formatMemberPath([extensionName, ...path, index, position]),
              message: `${undeclaredMessage}${suggest(name)}`,
            },
          ],
    ),
  );
}

/** Entries that say nothing configure nothing: they may stay. */
function findUnknownEntries(document: JsonObject, path: JsonPath, known: readonly string[], message: string): Fault[] {
  const names = new Set(known);
  const suggest = createSuggester(known);
  return Object.entries(objectOrEmpty(getAt(document[extensionName], path)))
    .filter(([name, entry]) => !names.has(name) && !isZeroValue(entry))
    .slice(0, maxUnknownNames)
    .map(([name]) => ({
      path: formatMemberPath([extensionName, ...path, name]),
      message: `${message}${suggest(name)}`,
    }));
}

/** Makes the ends of messages that name the nearest known name: empty where none is near, and after the first few. */
export function createSuggester(known: readonly string[]): (name: string) => string {
  const compared = known.slice(0, maxComparedNames).filter(({ length }) => length <= maxComparedLength);
  let left = maxSuggestions;
  return name => {
    if (name.length > maxComparedLength || left === 0) return '';
    left -= 1;
    const found = closestMatch(name, compared);
    return found === undefined ? '' : `; did you mean ${found}?`;
  };
}
