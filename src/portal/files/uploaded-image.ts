import type { FileContent, Upload } from '#operations/body.ts';
import { problem } from '../problems.ts';
import { detectImageType, findImageFault, maxImageSide } from './image.ts';

/** Checks an uploaded image: its content decides about its type, and its size is bounded. */
export function requireImage({ bytes }: Upload): FileContent {
  const mediaType = detectImageType(bytes);
  if (mediaType === undefined) throw problem.image_refused();
  const fault = findImageFault(bytes, mediaType);
  if (fault?.size) throw problem.image_too_large({ detail: { size: fault.size, max: maxImageSide } });
  if (fault) throw problem.image_refused();
  return { mediaType, bytes };
}
