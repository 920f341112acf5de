import type { ResultOf } from '../../kit/calls.ts';

export type PortalCatalogue = ResultOf<'GET /portal-api/catalogues/{catalogue_id}'>;
