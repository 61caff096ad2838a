import { IsEmail, IsOptional } from 'class-validator'

export class ConfirmOrderDto {
  @IsOptional()
  @IsEmail()
  customerEmail?: string
}
