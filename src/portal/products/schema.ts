import { z } from 'zod';
import { meaningfulNull, readOnlyMembers } from '#base/members.ts';
import {
  chosenCid,
  formatOptionalTime,
  lenientBool,
  lenientInt,
  nonEmptyText,
  optionalMember,
  replaceableReferences,
  textUpTo,
} from '../shapes.ts';

/** Product: APIs, or documentation alone, published together; one access policy of its provider. */
const longText = z.string().max(1_000_000);

const ApiDetailWrite = readOnlyMembers(
  z.object({ APIID: nonEmptyText(), Description: optionalMember(longText), OASUrl: optionalMember(textUpTo(2048)) }),
  ['Name', 'APIType', 'ListenPath', 'TargetURL', 'Status'],
);
const SpecWrite = readOnlyMembers(
  z.object({
    SpecAlias: nonEmptyText(),
    OASUrl: optionalMember(textUpTo(2048)),
    Name: optionalMember(textUpTo()),
  }),
  ['ID', 'CID'],
);

const path = nonEmptyText(100).regex(/^[A-Za-z0-9][\w.-]*$/, 'may hold letters, digits, "_", "-" and "." only');

const writable = {
  CID: optionalMember(chosenCid),
  ProviderID: optionalMember(lenientInt),
  IsDocumentationOnly: optionalMember(lenientBool),
  APIDetails: meaningfulNull(z.array(ApiDetailWrite).max(1000).nullable().optional()),
  SpecDetails: meaningfulNull(z.array(SpecWrite).max(1000).nullable().optional()),
  Catalogues: replaceableReferences,
  Content: optionalMember(longText),
  DCREnabled: optionalMember(lenientBool),
  Description: optionalMember(longText),
  DisplayName: optionalMember(textUpTo()),
  Feature: optionalMember(lenientBool),
  Path: optionalMember(path),
  Scopes: optionalMember(textUpTo(10_000)),
  Tags: meaningfulNull(z.array(nonEmptyText()).max(100).nullable().optional()),
};
const readOnly = [
  'ID',
  'ReferenceID',
  'AuthType',
  'AuthTypes',
  'Preview',
  'Logo',
  'Templates',
  'Hidden',
  'CreatedAt',
  'UpdatedAt',
];
export const ProductWrite = readOnlyMembers(z.object({ ...writable, Name: nonEmptyText() }), readOnly);
export const ProductChange = readOnlyMembers(z.object({ ...writable, Name: optionalMember(nonEmptyText()) }), readOnly);
export type ProductChange = z.output<typeof ProductChange>;

const ApiDetail = z.object({
  APIID: z.string(),
  Name: z.string(),
  Description: z.string(),
  APIType: z.string(),
  ListenPath: z.string(),
  TargetURL: z.string(),
  OASUrl: z.string(),
  Status: z.boolean(),
});
export type ApiDetail = z.output<typeof ApiDetail>;

const SpecDetail = z.object({
  ID: z.int(),
  CID: z.string(),
  SpecAlias: z.string(),
  OASUrl: z.string(),
  Name: z.string(),
});
export type SpecDetail = z.output<typeof SpecDetail>;

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
  Tags: string[];
  APIDetails: ApiDetail[];
  SpecDetails: SpecDetail[];
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
  Tags: [] as string[],
  APIDetails: [] as ApiDetail[],
  SpecDetails: [] as SpecDetail[],
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
  APIDetails: z.array(z.object({ APIID: z.string(), Name: z.string(), Status: z.boolean() })),
  SpecDetails: z.array(SpecDetail),
});
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

export const isDocumentationOnly = ({ APIDetails }: Pick<StoredProduct, 'APIDetails'>) => APIDetails.length === 0;

export function toProductRow(product: StoredProduct): z.output<typeof ProductRow> {
  const { ID, CID, Name, DisplayName, Path, ReferenceID, AuthType, AuthTypes } = product;
  const { DCREnabled, Feature, Scopes, SpecDetails } = product;
  return {
    ...{ ID, CID, Name, DisplayName, Path, ReferenceID, AuthTypes, DCREnabled, Feature, Scopes, SpecDetails },
    ...(AuthType && { AuthType }),
    IsDocumentationOnly: isDocumentationOnly(product),
    Preview: '',
    APIDetails: product.APIDetails.map(({ APIID, Name: name, Status }) => ({ APIID, Name: name, Status })),
  };
}

export const toProductView = (product: StoredProduct, catalogues: readonly string[]): z.output<typeof Product> => ({
  ...toProductRow(product),
  ProviderID: product.ProviderID,
  Catalogues: [...catalogues],
  Content: product.Content,
  Description: product.Description,
  Logo: '',
  Tags: product.Tags,
  Templates: [],
  APIDetails: product.APIDetails,
  Hidden: product.Hidden,
  CreatedAt: formatOptionalTime(product.CreatedAt),
  UpdatedAt: formatOptionalTime(product.UpdatedAt),
});
