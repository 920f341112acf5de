import { z } from 'zod';
import type { FileContent, Upload } from '#operations/body.ts';

/** One uploaded file of a multipart form, or the body itself. */
export const uploadedFile = z.custom<Upload>(
  value => value !== undefined && (value as Upload).bytes.length > 0,
  'file: is required: send it as the file of a multipart form',
);

/** Response that is a file. */
export const fileResponse = z.custom<FileContent>(value => Buffer.isBuffer((value as FileContent)?.bytes));
