import { facet } from '../facet.ts';
import { pairList } from '../field-codecs.ts';
import { choiceRule, flagRule, identifierRule, regexRule, textMapRule, textRule } from '../rules.ts';

export const identity = facet({
  name: 'identity',
  about: 'Which API this is, whose it is, and whether it is in service.',
  classic: '',
  oas: 'info',
  interpolation: 'nothing',
  fields: {
    id: {
      rule: identifierRule,
      classic: 'api_id',
      about: 'The public id, unique in the installation; made when empty.',
    },
    databaseId: { rule: textRule, classic: 'id', oas: 'dbId', about: 'The id of the stored record.' },
    orgId: {
      rule: textRule,
      classic: 'org_id',
      about: 'The organisation that owns the API, its keys and its policies.',
    },
    name: { rule: textRule, about: 'What people call the API; words with a leading # are its categories.' },
    slug: { rule: textRule, oas: null, about: 'A path segment skipped before a version in the URL is looked for.' },
    active: {
      rule: flagRule,
      classic: { path: 'active', valueWhenAbsent: true },
      oas: 'state.active',
      about:
        'Whether the API takes calls; an inactive one has no route. A classic definition that does not say so is active.',
    },
    internal: {
      rule: flagRule,
      oas: 'state.internal',
      about: 'No route of its own: reached only from other APIs, by looping or as one of their versions.',
    },
    expiration: {
      rule: textRule,
      about: 'YYYY-MM-DD HH:MM in UTC after which calls are refused; empty or -1 for never.',
    },
    isOas: {
      rule: flagRule,
      classic: 'is_oas',
      oas: null,
      about: 'Whether the definition was written in the OpenAPI form.',
    },
    applicationProtocol: {
      rule: textRule,
      classic: 'application_protocol',
      oas: null,
      about: 'What is spoken inside HTTP where that matters, such as mcp.',
    },
    jsonRpcVersion: {
      rule: textRule,
      classic: 'json_rpc_version',
      oas: null,
      about: 'The JSON-RPC version of such an API.',
    },
  },
});

export const versioning = facet({
  name: 'versioning',
  about: 'How a call says which version it wants, where every version is an API of its own.',
  classic: 'definition',
  oas: 'info.versioning',
  fields: {
    enabled: { rule: flagRule, about: 'Turns versions that are APIs of their own on.' },
    name: { rule: textRule, about: 'The version name of this API, the base.' },
    default: { rule: textRule, about: 'The version of a call that names none; self is the base.' },
    location: { rule: choiceRule('header', 'url-param', 'url'), about: 'Where a call names its version.' },
    key: { rule: textRule, about: 'The header or query parameter that names the version.' },
    versions: {
      rule: textMapRule,
      oas: pairList('versions', 'name', 'id'),
      about: 'Version name to the id of the API that serves it.',
    },
    stripVersioningData: {
      rule: flagRule,
      classic: ['strip_versioning_data', 'strip_path'],
      about: 'Removes the header, parameter or path segment before the call goes on.',
    },
    urlVersioningPattern: {
      rule: regexRule,
      classic: 'url_versioning_pattern',
      about: 'A path segment is taken for a version only where it matches this.',
    },
    fallbackToDefault: {
      rule: flagRule,
      classic: 'fallback_to_default',
      about: 'Serves an unknown version with the default one.',
    },
  },
});

export const versionData = facet({
  name: 'versionData',
  about: 'Versions inside one definition, selected by the location and key of the versioning block.',
  classic: 'version_data',
  oas: null,
  fields: {
    notVersioned: {
      rule: flagRule,
      classic: 'not_versioned',
      about: 'There is one version and calls need not name it.',
    },
    defaultVersion: { rule: textRule, classic: 'default_version', about: 'The version of a call that names none.' },
  },
});
