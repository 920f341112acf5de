import { closestMatch } from '#base/closest-match.ts';
import type { JsonObject, JsonPath } from '#base/json-tree.ts';
import { arrayOrEmpty, getAt, isObject, isZeroValue, objectOrEmpty } from '#base/json-tree.ts';
import { formatMemberPath } from '#base/members.ts';
import type { ValidationError } from '#operations/validation-error.ts';
import { extensionName } from './document-members.ts';
import { listOperations } from './endpoints/paths.ts';
import { isMcpExtension, parseMethodKey } from './mcp-names.ts';
import { gatewaySchemeNames } from './security-requirements.ts';
import { schemesPath } from './security-schemes.ts';

/** Bounds the errors of a hostile document. */
const maxUnknownNames = 100;

/** Bounds of the edit-distance search for suggestions. */
const maxSuggestions = 10;
const maxComparedNames = 5000;
const maxComparedLength = 100;

/**
 * Dangling names inside a document: the gateway extension configures operations by `operationId` and security schemes
 * by component name, and an entry that names neither has no effect. A misspelt `block` would block nothing.
 */
export function findUnknownNames(document: unknown): ValidationError[] {
  if (!isObject(document) || !isObject(document[extensionName])) return [];
  return [
    ...findUnknownOperations(document),
    ...findUnknownSchemes(document),
    ...findUnknownRequirements(document),
  ].slice(0, maxUnknownNames);
}

function findUnknownOperations(document: JsonObject): ValidationError[] {
  const operationIds = listOperations(document.paths).map(({ id }) => id);
  const settings = Object.keys(objectOrEmpty(getAt(document[extensionName], ['middleware', 'operations'])));
  const methodKeys = isMcpExtension(document[extensionName])
    ? settings.filter(key => parseMethodKey(key) !== undefined)
    : [];
  const known = [...operationIds, ...methodKeys];
  return findUnknownEntries(document, ['middleware', 'operations'], known, 'the document has no operation of this id');
}

const undeclaredMessage = 'is not one of components.securitySchemes';

/** A document without schemes requires a key, whatever the entries are called. */
function findUnknownSchemes(document: JsonObject): ValidationError[] {
  const known = Object.keys(objectOrEmpty(getAt(document, ['components', 'securitySchemes'])));
  if (known.length === 0) return [];
  return findUnknownEntries(document, schemesPath, known, undeclaredMessage);
}

/** Requirements of the gateway extension: each name is a scheme of the document, or one that OpenAPI cannot express. */
function findUnknownRequirements(document: JsonObject): ValidationError[] {
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

/** Entries without settings have no effect and may stay. */
function findUnknownEntries(
  document: JsonObject,
  path: JsonPath,
  known: readonly string[],
  message: string,
): ValidationError[] {
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

/** Creates a formatter of did-you-mean suggestions: empty where no name is close, and after `maxSuggestions`. */
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
