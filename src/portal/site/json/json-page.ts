import { lacksRequiredFactor } from '../../second-factor/required-factor.ts';
import { jsonApiPath, type SitePage, type SiteRequest, type SiteServices } from '../page.ts';
import { findOpenTerms } from '../terms/terms-page.ts';
import { toJsonFile } from './json-file.ts';

const refuse = (status: number, error: string) => toJsonFile({ errors: [error] }, status);

type ReadJson = (request: SiteRequest, services: SiteServices) => Promise<unknown>;

/** A twin: undefined is 404, as for what is not visible. Errors are JSON, where a page sends its visitor to the sign-in. */
export const createJsonPage = (path: string, read: ReadJson): SitePage => ({
  method: 'GET',
  path: `${jsonApiPath}/${path}`,
  access: 'all',
  async respond(request, services) {
    if (!request.visitor.user) return refuse(401, 'Sign in first');
    if (await findOpenTerms(request.visitor, services)) return refuse(403, 'Accept the new terms of use first');
    if (await lacksRequiredFactor(request.visitor.user, services)) return refuse(403, 'Add an authenticator app first');
    const value = await read(request, services);
    return value === undefined ? refuse(404, 'Not found') : toJsonFile(value);
  },
});
