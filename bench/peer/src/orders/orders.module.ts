import { Module } from '@nestjs/common'
import { TypeOrmModule } from '@nestjs/typeorm'
import { Operator } from '../catalogue/operator.entity.js'
import { Tariff } from '../catalogue/tariff.entity.js'
import { Order } from './order.entity.js'
import { OrdersController } from './orders.controller.js'
import { OrdersService } from './orders.service.js'
import { Profile } from './profile.entity.js'

@Module({
  imports: [TypeOrmModule.forFeature([Operator, Tariff, Profile, Order])],
  controllers: [OrdersController],
  providers: [OrdersService],
})
export class OrdersModule {}
