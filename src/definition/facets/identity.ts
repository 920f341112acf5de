import { facet } from '../facet.ts';
import { pairList } from '../field-codecs.ts';
import { choiceRule, flagRule, identifierRule, regexRule, textMapRule, textRule } from '../rules.ts';

export const identity = facet({
  name: 'identity',
  about: 'Ids, name, organisation and state of the API.',
  classic: '',
  oas: 'info',
  interpolation: 'nothing',
  fields: {
    id: {
      rule: identifierRule,
      classic: 'api_id',
      about: 'Public id, unique in the installation; generated if empty.',
    },
    databaseId: { rule: textRule, classic: 'id', oas: 'dbId', about: 'Id of the stored record.' },
    orgId: {
      rule: textRule,
      classic: 'org_id',
      about: 'Id of the organisation that owns the API, its keys and its policies.',
    },
    name: { rule: textRule, about: 'Name of the API; words with a leading # are its categories.' },
    slug: { rule: textRule, oas: null, about: 'Path segment that is skipped before the version segment of the URL.' },
    active: {
      rule: flagRule,
      classic: { path: 'active', valueWhenAbsent: true },
      oas: 'state.active',
      about: 'Serves requests; an inactive API has no route. Defaults to true in a classic definition.',
    },
    internal: {
      rule: flagRule,
      oas: 'state.internal',
      about:
        'Removes the route of the API: only loops of other APIs reach it, or requests for it as one of their versions.',
    },
    expiration: {
      rule: textRule,
      about: 'Time YYYY-MM-DD HH:MM in UTC after which requests are refused; empty or -1 for never.',
    },
    isOas: {
      rule: flagRule,
      classic: 'is_oas',
      oas: null,
      about: 'Marks a definition that was written in the OpenAPI format.',
    },
    applicationProtocol: {
      rule: textRule,
      classic: 'application_protocol',
      about: 'Protocol inside HTTP: mcp for an MCP proxy, which the operations of MCP proxies set.',
    },
    jsonRpcVersion: {
      rule: textRule,
      classic: 'json_rpc_version',
      about: 'JSON-RPC version of that protocol: 2.0 for an MCP proxy.',
    },
  },
});

export const versioning = facet({
  name: 'versioning',
  about: 'Versioning of requests, where every version is an API of its own.',
  classic: 'definition',
  oas: 'info.versioning',
  fields: {
    enabled: { rule: flagRule, about: 'Enables versions that are APIs of their own.' },
    name: { rule: textRule, about: 'Version name of this API, the base API.' },
    default: { rule: textRule, about: 'Version of requests without a version; self for the base API.' },
    location: { rule: choiceRule('header', 'url-param', 'url'), about: 'Location of the version in the request.' },
    key: { rule: textRule, about: 'Name of the header or query parameter.' },
    versions: {
      rule: textMapRule,
      oas: pairList('versions', 'name', 'id'),
      about: 'Map from version name to API id.',
    },
    stripVersioningData: {
      rule: flagRule,
      classic: ['strip_versioning_data', 'strip_path'],
      about: 'Removes the header, parameter or path segment from the upstream request.',
    },
    urlVersioningPattern: {
      rule: regexRule,
      classic: 'url_versioning_pattern',
      about: 'Regular expression that a path segment must match to be read as a version.',
    },
    fallbackToDefault: {
      rule: flagRule,
      classic: 'fallback_to_default',
      about: 'Serves unknown versions with the default one.',
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
      about: 'Serves the one version to requests without a version.',
    },
    defaultVersion: { rule: textRule, classic: 'default_version', about: 'Version of requests without a version.' },
  },
});
