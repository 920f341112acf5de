import { z } from 'zod';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';
import type { CertificateRequirement } from '../control-plane.ts';
import {
  chosenCid,
  formatOptionalTime,
  lenientBool,
  lenientInt,
  nonEmptyText,
  optionalMember,
  references,
  replaceableReferences,
  textUpTo,
} from '../shapes.ts';

/** Product: APIs, or documentation alone, published together; one access policy of its provider. */
export const maxProductTags = 100;
const longText = z.string().max(1_000_000);

/** Address of a document that pages of the portal link to: no `javascript:`. */
const documentUrl = textUpTo(2048).refine(
  text => text === '' || /^https?:$/.test(URL.parse(text)?.protocol ?? ''),
  'must be an http or https address',
);

const ApiDetailWrite = readOnlyMembers(
  z.object({ APIID: nonEmptyText(), Description: optionalMember(longText), OASUrl: optionalMember(documentUrl) }),
  ['Name', 'APIType', 'ListenPath', 'TargetURL', 'Status'],
);
export const SpecWrite = readOnlyMembers(
  z.object({
    SpecAlias: nonEmptyText(),
    OASUrl: optionalMember(documentUrl),
    Name: optionalMember(textUpTo()),
  }),
  ['ID', 'CID', 'DocumentationType'],
);

/** Absent members do not change; an empty name is that of the API. */
export const ApiDetailChange = readOnlyMembers(
  z.object({
    Name: optionalMember(textUpTo()),
    Description: optionalMember(longText),
    OASUrl: optionalMember(documentUrl),
  }),
  ['APIID', 'APIType', 'ListenPath', 'TargetURL', 'Status'],
);
export const SpecChange = readOnlyMembers(
  z.object({
    SpecAlias: optionalMember(nonEmptyText()),
    OASUrl: optionalMember(documentUrl),
    Name: optionalMember(textUpTo()),
  }),
  ['ID', 'CID', 'DocumentationType'],
);

const path = nonEmptyText(100).regex(/^[A-Za-z0-9][\w.-]*$/, 'may hold letters, digits, "_", "-" and "." only');

const writable = {
  ProviderID: optionalMember(lenientInt),
  IsDocumentationOnly: optionalMember(lenientBool),
  APIDetails: meaningfulNull(z.array(ApiDetailWrite).max(1000).nullable().optional()),
  SpecDetails: meaningfulNull(z.array(SpecWrite).max(1000).nullable().optional()),
  Catalogues: replaceableReferences,
  Content: optionalMember(longText),
  DCREnabled: optionalMember(lenientBool),
  Description: optionalMember(longText),
  DisplayName: optionalMember(textUpTo()),
  Feature: optionalMember(lenientBool).describe('Shown on the home page of the portal, and first in lists'),
  Path: optionalMember(path),
  Scopes: optionalMember(textUpTo(10_000)).describe('Scope of tokens of OAuth clients that selects the product'),
  Tags: meaningfulNull(references.max(maxProductTags).nullable().optional()),
  Templates: replaceableReferences,
};
const readOnly = ['ID', 'ReferenceID', 'AuthType', 'AuthTypes', 'Preview', 'Logo', 'Hidden', 'CreatedAt', 'UpdatedAt'];
export const ProductWrite = readOnlyMembers(
  z.object({ ...writable, CID: optionalMember(chosenCid), Name: nonEmptyText() }),
  readOnly,
);
export const ProductChange = readOnlyMembers(z.object({ ...writable, Name: optionalMember(nonEmptyText()) }), [
  ...readOnly,
  'CID',
]);
export type ProductChange = z.output<typeof ProductChange>;

export const ApiDetail = z.object({
  APIID: z.string(),
  Name: z.string(),
  Description: z.string(),
  APIType: z.string(),
  ListenPath: z.string(),
  TargetURL: z.string(),
  OASUrl: z.string(),
  Status: z.boolean(),
});
/**
 * `ChosenName` is shown in place of the name of the API; `AuthHeader` is the header of its credential, if another;
 * `CertificateUse` is set where it requires a client certificate.
 */
export type ApiDetail = z.output<typeof ApiDetail> & {
  ChosenName?: string;
  AuthHeader?: string;
  CertificateUse?: CertificateRequirement;
};
export const ApiDetailRow = ApiDetail.pick({ APIID: true, Name: true, Status: true });

export const toApiDetailView = ({
  ChosenName,
  AuthHeader: _header,
  CertificateUse: _use,
  ...detail
}: ApiDetail): z.output<typeof ApiDetail> => ({
  ...detail,
  Name: ChosenName || detail.Name,
});
export function toApiDetailRow(detail: ApiDetail): z.output<typeof ApiDetailRow> {
  const { APIID, Name, Status } = toApiDetailView(detail);
  return { APIID, Name, Status };
}

export const SpecDetail = z.object({
  ID: z.int(),
  CID: z.string(),
  SpecAlias: z.string(),
  OASUrl: z.string(),
  Name: z.string(),
  DocumentationType: z.enum(['OAS', 'graphqlSDL']),
});
/** Specifications of earlier releases have no type. */
export type StoredSpec = Omit<z.output<typeof SpecDetail>, 'DocumentationType'> &
  Partial<Pick<z.output<typeof SpecDetail>, 'DocumentationType'>>;

export const lastSpecIdOf = ({ LastSpecID = 0, SpecDetails }: Pick<StoredProduct, 'LastSpecID' | 'SpecDetails'>) =>
  Math.max(LastSpecID, ...SpecDetails.map(({ ID }) => ID));

export const toSpecView = (spec: StoredSpec): z.output<typeof SpecDetail> => ({ DocumentationType: 'OAS', ...spec });

export const productImages = ['logo', 'preview'] as const;
export type ProductImage = (typeof productImages)[number];

export interface StoredProduct {
  ID: number;
  CID: string;
  Name: string;
  DisplayName: string;
  Path: string;
  /** 0 for documentation only. */
  ProviderID: number;
  /** Access policy id; empty without APIs. */
  ReferenceID: string;
  AuthType: string;
  AuthTypes: string[];
  DCREnabled: boolean;
  Feature: boolean;
  Scopes: string;
  Description: string;
  Content: string;
  APIDetails: ApiDetail[];
  SpecDetails: StoredSpec[];
  /** Highest number that a specification has had: numbers are not used again. Absent before the first one. */
  LastSpecID?: number;
  /** Slots of uploaded images; absent in products of earlier releases. */
  Images?: readonly ProductImage[];
  /** Its policy is deleted or inactive: stored, but not offered. */
  Hidden: boolean;
  CreatedAt: number;
  UpdatedAt: number;
}

export const defaultProduct = {
  DisplayName: '',
  ReferenceID: '',
  AuthType: '',
  AuthTypes: [] as string[],
  DCREnabled: false,
  Feature: false,
  Scopes: '',
  Description: '',
  Content: '',
  APIDetails: [] as ApiDetail[],
  SpecDetails: [] as StoredSpec[],
  Hidden: false,
};

export const ProductRow = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  DisplayName: z.string(),
  Path: z.string(),
  ReferenceID: z.string(),
  AuthType: z.string().optional(),
  AuthTypes: z.array(z.string()),
  DCREnabled: z.boolean(),
  Feature: z.boolean(),
  IsDocumentationOnly: z.boolean(),
  Scopes: z.string(),
  Preview: z.string(),
  APIDetails: z.array(ApiDetailRow),
  SpecDetails: z.array(SpecDetail),
});
/** Row of a list of products, with the names of their catalogues. */
export const ProductListRow = ProductRow.extend({ Catalogues: z.array(z.string()), Hidden: z.boolean() });
export const Product = ProductRow.extend({
  ProviderID: z.int(),
  Catalogues: z.array(z.string()),
  Content: z.string(),
  Description: z.string(),
  Logo: z.string(),
  Tags: z.array(z.string()),
  Templates: z.array(z.string()),
  APIDetails: z.array(ApiDetail),
  Hidden: z.boolean(),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

/** True for a product whose credentials are bound to client certificates. */
export const isBoundToCertificate = ({
  DCREnabled,
  APIDetails,
}: Pick<StoredProduct, 'DCREnabled' | 'APIDetails'>): boolean =>
  !DCREnabled && APIDetails.some(({ CertificateUse }) => CertificateUse);

export const isDocumentationOnly = ({ APIDetails }: Pick<StoredProduct, 'APIDetails'>) => APIDetails.length === 0;

/** Address of an image; a preview falls back to the logo. Empty without either. */
function toImagePath({ ID, Images = [] }: StoredProduct, image: ProductImage): string {
  const exists = Images.includes(image) || (image === 'preview' && Images.includes('logo'));
  return exists ? `/portal-api/products/${ID}/${image}` : '';
}

export function toProductRow(product: StoredProduct): z.output<typeof ProductRow> {
  const { ID, CID, Name, DisplayName, Path, ReferenceID, AuthType, AuthTypes } = product;
  const { DCREnabled, Feature, Scopes } = product;
  return {
    ...{ ID, CID, Name, DisplayName, Path, ReferenceID, AuthTypes, DCREnabled, Feature, Scopes },
    ...(AuthType && { AuthType }),
    IsDocumentationOnly: isDocumentationOnly(product),
    Preview: toImagePath(product, 'preview'),
    APIDetails: product.APIDetails.map(toApiDetailRow),
    SpecDetails: product.SpecDetails.map(toSpecView),
  };
}

/** Names of the objects that a product refers to. */
export interface ProductRelations {
  readonly catalogues: readonly string[];
  readonly tags: readonly string[];
  readonly clientTypes: readonly string[];
}

export const toProductView = (
  product: StoredProduct,
  { catalogues, tags, clientTypes }: ProductRelations,
): z.output<typeof Product> => ({
  ...toProductRow(product),
  ProviderID: product.ProviderID,
  Catalogues: [...catalogues],
  Content: product.Content,
  Description: product.Description,
  Logo: toImagePath(product, 'logo'),
  Tags: [...tags],
  Templates: [...clientTypes],
  APIDetails: product.APIDetails.map(toApiDetailView),
  Hidden: product.Hidden,
  CreatedAt: formatOptionalTime(product.CreatedAt),
  UpdatedAt: formatOptionalTime(product.UpdatedAt),
});
