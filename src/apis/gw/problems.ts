import { problems } from '#base/problems.ts';

export const problem = problems('gw-apis', {
  other_id: {
    status: 400,
    message: 'Request APIID does not match that in Definition! For Update operations these must match.',
  },
  other_organisation: { status: 400, message: '{path}: is {given}, but the API belongs to {wanted}' },
  classic_only: {
    status: 400,
    message: 'this API endpoint only supports Classic APIs; please use the appropriate OAS API endpoint',
  },
  is_classic: {
    status: 400,
    message: 'the requested API definition is in classic format, please use old api endpoint',
  },
  oas_for_classic: {
    status: 400,
    message: 'the supplied API definition is in OAS format, please use the classic format for this API',
  },
  extension_missing: { status: 400, message: 'the payload should contain x-gw-api-gateway' },
  extension_present: { status: 400, message: 'the import payload should not contain x-gw-api-gateway' },
  no_schema: { status: 404, message: 'Schema not found for version "{version}"' },
  api_id_missing: { status: 400, message: 'missing api_id parameter' },
  api_id_unknown: { status: 404, message: 'API ID not found' },
});
