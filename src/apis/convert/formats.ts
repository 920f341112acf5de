/** Formats of JSON or YAML documents. */
export const documentFormatNames = ['openapi', 'swagger', 'asyncapi', 'har', 'postman'] as const;
export type DocumentFormat = (typeof documentFormatNames)[number];

export const convertFormats = ['auto', 'curl', 'blueprint', ...documentFormatNames] as const;
/** Formats that are recognised and rejected with advice. */
export const unsupportedFormats = ['wsdl'] as const;
export type ConvertFormat = (typeof convertFormats)[number] | (typeof unsupportedFormats)[number];
